{{- define "nodewright.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "nodewright.fullname" -}}
{{- $name := include "nodewright.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "nodewright.identity" -}}
app.kubernetes.io/name: {{ include "nodewright.name" . | quote }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "nodewright.selector" -}}
{{- if .Values.selectorLabels -}}
{{- toYaml .Values.selectorLabels -}}
{{- else -}}
{{- include "nodewright.identity" . -}}
{{- end -}}
{{- end -}}

{{- define "nodewright.labels" -}}
{{ include "nodewright.identity" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- with omit (.Values.additionalLabels | default dict) "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/version" }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The labels of pods: whatever is given, the selector finds them. */}}
{{- define "nodewright.podLabels" -}}
{{- $labels := mergeOverwrite (deepCopy (.Values.additionalLabels | default dict)) (.Values.podLabels | default dict) -}}
{{- include "nodewright.selector" . | fromYaml | mergeOverwrite $labels | toYaml -}}
{{- end -}}

{{/* The image, unless it is Cluster Autoscaler's: that one would start with arguments that it does not know. */}}
{{- define "nodewright.image" -}}
{{- $repository := .Values.image.repository -}}
{{- $tag := toString (default .Chart.AppVersion .Values.image.tag) -}}
{{- if regexMatch "(^|/)cluster-autoscaler[^/]*$" $repository -}}
{{- fail (printf "image.repository: %s is Cluster Autoscaler's image: name your image of Nodewright, or leave image out" $repository) -}}
{{- end -}}
{{- if regexMatch ":[^/]*$" $repository -}}
{{- fail (printf "image.repository: %s has a tag or a digest: give it as image.tag, a digest as TAG@sha256:..." $repository) -}}
{{- end -}}
{{- if regexMatch "^v1\\.[1-9][0-9]\\.[0-9]+$" $tag -}}
{{- fail (printf "image.tag: %s is a version of Cluster Autoscaler: name the tag of your image of Nodewright, or leave it out" $tag) -}}
{{- end -}}
{{- printf "%s:%s" $repository $tag -}}
{{- end -}}

{{/* Refuses to change the selector of a Deployment that is there: Kubernetes would, with words that help nobody. */}}
{{- define "nodewright.checkSelector" -}}
{{- $name := include "nodewright.fullname" . -}}
{{- $there := lookup "apps/v1" "Deployment" .Release.Namespace $name -}}
{{- if $there -}}
{{- $labels := $there.spec.selector.matchLabels | default dict -}}
{{- if ne (toJson $labels) (include "nodewright.selector" . | fromYaml | toJson) -}}
{{- fail (printf "the Deployment %s/%s is there already, and its selector can't be changed. To take its place, set selectorLabels: %s (nodewright migrate prints such values). To run beside it, set fullnameOverride to another name" .Release.Namespace $name (toJson $labels)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "nodewright.serviceAccountName" -}}
{{- $account := .Values.rbac.serviceAccount -}}
{{- if $account.create -}}
{{- default (include "nodewright.fullname" .) $account.name -}}
{{- else -}}
{{- default "default" $account.name -}}
{{- end -}}
{{- end -}}

{{/* The namespace of the lease and the ConfigMaps. */}}
{{- define "nodewright.namespace" -}}
{{- default .Release.Namespace .Values.clusterAPIConfigMapsNamespace -}}
{{- end -}}

{{/* The configuration as JSON, from a mapping or a text. */}}
{{- define "nodewright.config" -}}
{{- $config := .Values.config | default dict -}}
{{- if kindIs "string" $config -}}
{{- $config = fromYaml $config -}}
{{- with $config.Error -}}{{- fail (printf "config is not valid YAML: %s" .) -}}{{- end -}}
{{- end -}}
{{- toJson $config -}}
{{- end -}}

{{/* The value of a setting. The argument is a list of context, path, flag and default. The flag wins, as in the program. */}}
{{- define "nodewright.setting" -}}
{{- $context := index . 0 -}}
{{- $flag := index . 2 -}}
{{- $value := include "nodewright.config" $context | fromJson -}}
{{- range splitList "." (index . 1) -}}
{{- $value = ternary (get $value .) nil (and (kindIs "map" $value) (hasKey (kindIs "map" $value | ternary $value dict) .)) -}}
{{- end -}}
{{- if kindIs "invalid" $value -}}{{- $value = index . 3 -}}{{- end -}}
{{- if $flag -}}
{{- range $name, $given := $context.Values.extraArgs -}}
{{- if eq (first (splitList "_" $name)) $flag -}}{{- $value = ternary true $given (kindIs "invalid" $given) -}}{{- end -}}
{{- end -}}
{{- range $context.Values.customArgs -}}
{{- if eq . (printf "--%s" $flag) -}}{{- $value = true -}}{{- end -}}
{{- if hasPrefix (printf "--%s=" $flag) . -}}{{- $value = trimPrefix (printf "--%s=" $flag) . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- toString $value -}}
{{- end -}}

{{/* Whether it acts; a dry run writes nothing. */}}
{{- define "nodewright.acts" -}}
{{- if ne (include "nodewright.setting" (list . "dryRun" "dry-run" false)) "true" -}}true{{- end -}}
{{- end -}}

{{/* The port of metrics and health. */}}
{{- define "nodewright.port" -}}
{{- $address := include "nodewright.setting" (list . "server.address" "address" ":8085") -}}
{{- if not (regexMatch ":[0-9]+$" $address) -}}
{{- fail (printf "%s is no address to listen on: use host:port, or :port for all addresses" $address) -}}
{{- end -}}
{{- $address | splitList ":" | last -}}
{{- end -}}

{{/* The cloud that the values name, empty if the configuration does. */}}
{{- define "nodewright.cloudProvider" -}}
{{- $named := or .Values.autoDiscovery.clusterName .Values.autoDiscovery.labels .Values.autoscalingGroups .Values.autoscalingGroupsnamePrefix -}}
{{- $configured := get (include "nodewright.config" . | fromJson) "providers" -}}
{{- if .Values.cloudProvider -}}
{{- .Values.cloudProvider -}}
{{- else if and $named (not $configured) -}}
aws
{{- else if not (or $configured (include "nodewright.setting" (list . "" "cloud-provider" ""))) -}}
{{- fail "name the cloud that has the nodes: set config.providers, or, as for Cluster Autoscaler, cloudProvider with autoDiscovery.clusterName or autoscalingGroups" -}}
{{- end -}}
{{- end -}}

{{/* Whether gce.conf is mounted from the host, as in Cluster Autoscaler's chart: not where a volume of the values has it. */}}
{{- define "nodewright.hostFile" -}}
{{- $file := .Values.cloudConfigPath -}}
{{- $mounted := false -}}
{{- range concat (values (.Values.extraVolumeSecrets | default dict)) (.Values.extraVolumeMounts | default list) -}}
{{- if or (eq $file .mountPath) (hasPrefix (printf "%s/" (trimSuffix "/" .mountPath)) $file) -}}{{- $mounted = true -}}{{- end -}}
{{- end -}}
{{- if and $file (not $mounted) (eq (include "nodewright.cloudProvider" .) "gce") -}}true{{- end -}}
{{- end -}}

{{/* Whether the namespace needs a quota for critical pods: GKE has one in kube-system only, and refuses them elsewhere. */}}
{{- define "nodewright.priorityQuota" -}}
{{- $wanted := toString .Values.priorityQuota.create -}}
{{- $gke := contains "-gke." .Capabilities.KubeVersion.GitVersion -}}
{{- $refused := and $gke (hasPrefix "system-" (.Values.priorityClassName | default "")) (ne .Release.Namespace "kube-system") -}}
{{- if or (eq $wanted "true") (and $refused (eq $wanted "auto")) -}}true{{- end -}}
{{- end -}}

{{/* Whether the chart creates a Secret with the cloud's keys. */}}
{{- define "nodewright.secret" -}}
{{- if not .Values.secretKeyRefNameOverride -}}
{{- $cloud := include "nodewright.cloudProvider" . -}}
{{- if or (eq $cloud "azure") (and (eq $cloud "aws") (or .Values.awsAccessKeyID .Values.awsSecretAccessKey)) -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{/* A value as Go's flags read it: large numbers without an exponent. */}}
{{- define "nodewright.text" -}}
{{- if and (kindIs "float64" .) (eq (floor .) .) -}}{{- int64 . -}}{{- else -}}{{- . -}}{{- end -}}
{{- end -}}
