{{/* Values of Cluster Autoscaler's chart that have no effect here, and unknown values, one per line with the reason. */}}
{{- define "nodewright.ignored" -}}
{{- $known := list "config" "cloudProvider" "autoDiscovery" "autoscalingGroups" "autoscalingGroupsnamePrefix" "awsRegion" "awsAccessKeyID" "awsSecretAccessKey" "azureClientID" "azureClientSecret" "azureResourceGroup" "azureSubscriptionID" "azureTenantID" "azureUseManagedIdentityExtension" "azureUserAssignedIdentityID" "azureUseWorkloadIdentityExtension" "azureVMType" "azureEnableForceDelete" "azureEnableVMSSEtag" "clusterAPIMode" "clusterAPIKubeconfigSecret" "clusterAPIWorkloadKubeconfigPath" "clusterAPICloudConfigPath" "clusterAPIConfigMapsNamespace" "cloudConfigPath" "expanderPriorities" "priorityConfigMapAnnotations" "extraArgs" "customArgs" "extraEnv" "extraEnvConfigMaps" "extraEnvSecrets" "envFromConfigMap" "envFromConfigMapOptional" "envFromSecret" "secretKeyRefNameOverride" "extraVolumes" "extraVolumeMounts" "extraVolumeSecrets" "initContainers" "extraObjects" "image" "nameOverride" "fullnameOverride" "selectorLabels" "replicaCount" "revisionHistoryLimit" "updateStrategy" "deployment" "podAnnotations" "podLabels" "additionalLabels" "priorityClassName" "priorityQuota" "hostNetwork" "dnsPolicy" "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" "resources" "securityContext" "containerSecurityContext" "rbac" "podDisruptionBudget" "networkPolicy" "service" "serviceMonitor" "prometheusRule" "alerts" "dashboards" "vpa" "global" -}}
{{- $reasons := dict "kubeTargetVersionOverride" "all API versions in use are served since Kubernetes 1.25" "azureClusterName" "only read by Cluster Autoscaler for AKS pools that it no longer supports" "azureNodeResourceGroup" "only read by Cluster Autoscaler for AKS pools that it no longer supports" -}}
{{- range $name, $value := .Values }}
{{- if not (has $name $known) }}
{{- if hasPrefix "magnum" $name }}
- {{ $name }}: there is no plugin for Magnum
{{- else if hasPrefix "civo" $name }}
- {{ $name }}: there is no plugin for Civo
{{- else if hasPrefix "kwok" $name }}
- {{ $name }}: there is no plugin for kwok; use nodewright-fake to try things out
{{- else }}
- {{ $name }}: {{ get $reasons $name | default "this chart has no such value; is it misspelt?" }}
{{- end }}
{{- end }}
{{- end }}
{{- if .Values.rbac.pspEnabled }}
- rbac.pspEnabled: Kubernetes has no PodSecurityPolicies since 1.25
{{- end }}
{{- end -}}
