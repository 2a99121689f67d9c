{{- /* A quantity as a number: millicores of CPU, MiB of memory. */ -}}
{{- define "nodewright.millicores" -}}
{{- $text := toString . -}}
{{- if hasSuffix "m" $text }}{{ trimSuffix "m" $text | float64 }}{{ else }}{{ mulf 1000 (float64 $text) }}{{ end -}}
{{- end }}

{{- define "nodewright.mebibytes" -}}
{{- $text := toString . -}}
{{- $units := dict "Ki" 0.0009765625 "Mi" 1 "Gi" 1024 "Ti" 1048576 "k" 0.00095367431640625 "M" 0.95367431640625 "G" 953.67431640625 -}}
{{- $amount := divf (float64 $text) 1048576 -}}
{{- range $unit, $size := $units }}
{{- if hasSuffix $unit $text }}{{ $amount = trimSuffix $unit $text | float64 | mulf $size }}{{ end }}
{{- end -}}
{{- $amount -}}
{{- end }}

{{- /* What is too little to live on, a line each. Cluster Autoscaler, a Go program, needs less of both. */ -}}
{{- define "nodewright.floors" -}}
{{- $limits := (.Values.resources | default dict).limits | default dict -}}
{{- with $limits.cpu }}
{{- if lt (include "nodewright.millicores" . | float64) 250.0 }}
resources.limits.cpu: {{ . }} is little: a start takes a second of CPU, so it lasts {{ divf 1000 (include "nodewright.millicores" . | float64) | ceil }} seconds or longer, and so does each loop after a large change. Set 250m or more, or none.
{{- end }}
{{- end }}
{{- with $limits.memory }}
{{- if lt (include "nodewright.mebibytes" . | float64) 192.0 }}
resources.limits.memory: {{ . }} is too little: a small cluster takes 100 MB at rest and more in each loop, so the process would be killed. Set 256Mi or more; 1Gi is enough for 5,000 nodes.
{{- end }}
{{- end }}
{{- end }}
