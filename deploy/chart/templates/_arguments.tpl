{{/* The flags of the cloud and its groups, from the values of Cluster Autoscaler's chart. */}}
{{- define "nodewright.cloudArguments" -}}
{{- $cloud := include "nodewright.cloudProvider" . -}}
{{- with $cloud }}
- --cloud-provider={{ . }}
{{- end }}
{{- range .Values.autoscalingGroups }}
- --nodes={{ include "nodewright.text" .minSize }}:{{ include "nodewright.text" .maxSize }}:{{ .name }}
{{- end }}
{{- range .Values.autoscalingGroupsnamePrefix }}
- --node-group-auto-discovery=mig:namePrefix={{ tpl .name $ }},min={{ include "nodewright.text" .minSize }},max={{ include "nodewright.text" .maxSize }}
{{- end }}
{{- $discovery := .Values.autoDiscovery }}
{{- if eq $cloud "aws" }}
{{- if $discovery.clusterName }}
- --node-group-auto-discovery=asg:tag={{ tpl (join "," $discovery.tags) . }}
{{- end }}
{{- else if eq $cloud "azure" }}
{{- if $discovery.clusterName }}
- --node-group-auto-discovery=label:cluster-autoscaler-enabled=true,cluster-autoscaler-name={{ tpl $discovery.clusterName . }}
{{- end }}
{{- else if eq $cloud "clusterapi" }}
{{- with include "nodewright.clusterApiConditions" . }}
- --node-group-auto-discovery=clusterapi:{{ . }}
{{- end }}
{{- if or (eq .Values.clusterAPIMode "incluster-kubeconfig") (eq .Values.clusterAPIMode "kubeconfig-kubeconfig") }}
- --cloud-config={{ .Values.clusterAPICloudConfigPath }}
{{- end }}
{{- if has .Values.clusterAPIMode (list "kubeconfig-incluster" "kubeconfig-kubeconfig" "single-kubeconfig") }}
- --kubeconfig={{ .Values.clusterAPIWorkloadKubeconfigPath }}
{{- end }}
{{- if eq .Values.clusterAPIMode "kubeconfig-incluster" }}
- --clusterapi-cloud-config-authoritative
{{- end }}
{{- end }}
{{- if and .Values.cloudConfigPath (ne $cloud "clusterapi") }}
- --cloud-config={{ .Values.cloudConfigPath }}
{{- end }}
{{- end -}}

{{- define "nodewright.clusterApiConditions" -}}
{{- $discovery := .Values.autoDiscovery -}}
{{- $conditions := list -}}
{{- with $discovery.clusterName -}}{{- $conditions = append $conditions (printf "clusterName=%s" (tpl . $)) -}}{{- end -}}
{{- with $discovery.namespace -}}{{- $conditions = append $conditions (printf "namespace=%s" .) -}}{{- end -}}
{{- range $discovery.labels -}}
{{- range $key, $value := . -}}{{- $conditions = append $conditions (printf "%s=%s" $key (toString $value)) -}}{{- end -}}
{{- end -}}
{{- range $discovery.customConditions -}}{{- $conditions = append $conditions . -}}{{- end -}}
{{- join "," $conditions -}}
{{- end -}}

{{- define "nodewright.extraArguments" -}}
{{- range $name, $value := .Values.extraArgs }}
{{- $flag := first (splitList "_" $name) }}
{{- if kindIs "invalid" $value }}
- --{{ $flag }}
{{- else }}
- {{ printf "--%s=%s" $flag (include "nodewright.text" $value) | quote }}
{{- end }}
{{- end }}
{{- range .Values.customArgs }}
- {{ tpl (toString .) $ | quote }}
{{- end }}
{{- end -}}

{{- define "nodewright.environment" -}}
{{- $cloud := include "nodewright.cloudProvider" . -}}
{{- $secret := default (include "nodewright.fullname" .) .Values.secretKeyRefNameOverride -}}
{{- $fromSecret := dict -}}
{{- if eq $cloud "aws" }}
{{- with .Values.awsRegion }}
- name: AWS_REGION
  value: {{ . | quote }}
{{- end }}
{{- if .Values.awsAccessKeyID }}
{{- $_ := set $fromSecret "AWS_ACCESS_KEY_ID" "AwsAccessKeyId" }}
{{- end }}
{{- if .Values.awsSecretAccessKey }}
{{- $_ := set $fromSecret "AWS_SECRET_ACCESS_KEY" "AwsSecretAccessKey" }}
{{- end }}
{{- else if eq $cloud "azure" }}
{{- $fromSecret = dict "ARM_SUBSCRIPTION_ID" "SubscriptionID" "ARM_RESOURCE_GROUP" "ResourceGroup" "ARM_VM_TYPE" "VMType" }}
{{- if .Values.azureUseManagedIdentityExtension }}
- name: ARM_USE_MANAGED_IDENTITY_EXTENSION
  value: "true"
{{- with .Values.azureUserAssignedIdentityID }}
- name: ARM_USER_ASSIGNED_IDENTITY_ID
  value: {{ . | quote }}
{{- end }}
{{- else if .Values.azureUseWorkloadIdentityExtension }}
- name: ARM_USE_WORKLOAD_IDENTITY_EXTENSION
  value: "true"
{{- else }}
{{- $_ := set $fromSecret "ARM_TENANT_ID" "TenantID" }}
{{- $_ := set $fromSecret "ARM_CLIENT_ID" "ClientID" }}
{{- $_ := set $fromSecret "ARM_CLIENT_SECRET" "ClientSecret" }}
{{- end }}
{{- if .Values.azureEnableForceDelete }}
- name: AZURE_ENABLE_FORCE_DELETE
  value: "true"
{{- end }}
{{- if .Values.azureEnableVMSSEtag }}
- name: AZURE_ENABLE_VMSS_ETAG
  value: "true"
{{- end }}
{{- end }}
{{- range $name, $key := $fromSecret }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $secret }}
      key: {{ $key }}
{{- end }}
{{- range $name, $value := .Values.extraEnv }}
- name: {{ $name }}
  value: {{ include "nodewright.text" $value | quote }}
{{- end }}
{{- range $name, $source := .Values.extraEnvConfigMaps }}
- name: {{ $name }}
  valueFrom:
    configMapKeyRef:
      name: {{ default (include "nodewright.fullname" $) $source.name }}
      key: {{ required (printf "extraEnvConfigMaps.%s needs a key" $name) $source.key }}
{{- end }}
{{- range $name, $source := .Values.extraEnvSecrets }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ default (include "nodewright.fullname" $) $source.name }}
      key: {{ required (printf "extraEnvSecrets.%s needs a key" $name) $source.key }}
{{- end }}
{{- end -}}
