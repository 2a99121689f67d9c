"""The protobuf messages that kubectl sends: its number, name and kind for each field.

Recent versions of kubectl speak protobuf, and nothing else, where they make an object from their command line
(``kubectl create deployment``) or ask a question (``kubectl auth can-i``). What they make has few of the fields that
there are, so only those are listed. A kind is a message, ``text``, ``number``, ``port`` (a number, if it is not 0),
``flag`` or ``bytes``, in brackets for a list, in braces for a map from texts; ``-`` marks what only the server says.
"""

from collections.abc import Mapping
from functools import cache

Fields = Mapping[int, tuple[str, str]]

_MESSAGES = {
    # meta.k8s.io
    "ObjectMeta": "1 name text, 2 generateName text, 3 namespace text, 4 selfLink -, 5 uid text,"
    " 6 resourceVersion text, 7 generation -, 8 creationTimestamp -, 11 labels {text}, 12 annotations {text},"
    " 13 ownerReferences [OwnerReference], 14 finalizers [text], 17 managedFields -",
    "OwnerReference": "1 kind text, 3 name text, 4 uid text, 5 apiVersion text, 6 controller flag,"
    " 7 blockOwnerDeletion flag",
    "LabelSelector": "1 matchLabels {text}, 2 matchExpressions [LabelSelectorRequirement]",
    "LabelSelectorRequirement": "1 key text, 2 operator text, 3 values [text]",
    "DeleteOptions": "1 gracePeriodSeconds number, 2 preconditions Preconditions, 3 orphanDependents flag,"
    " 4 propagationPolicy text, 5 dryRun [text]",
    "Preconditions": "1 uid text, 2 resourceVersion text",
    # core
    "ConfigMap": "1 metadata ObjectMeta, 2 data {text}, 3 binaryData {bytes}, 4 immutable flag",
    "Namespace": "1 metadata ObjectMeta, 2 spec -, 3 status -",
    "Secret": "1 metadata ObjectMeta, 2 data {bytes}, 3 type text, 4 stringData {text}, 5 immutable flag",
    "ServiceAccount": "1 metadata ObjectMeta",
    "Service": "1 metadata ObjectMeta, 2 spec ServiceSpec, 3 status -",
    "ServiceSpec": "1 ports [ServicePort], 2 selector {text}, 3 clusterIP text, 4 type text, 7 sessionAffinity text,"
    " 10 externalName text, 13 publishNotReadyAddresses flag",
    "ServicePort": "1 name text, 2 protocol text, 3 port number, 4 targetPort IntOrString, 5 nodePort port",
    "ResourceQuota": "1 metadata ObjectMeta, 2 spec ResourceQuotaSpec, 3 status -",
    "ResourceQuotaSpec": "1 hard {Quantity}, 2 scopes [text]",
    "PodTemplateSpec": "1 metadata ObjectMeta, 2 spec PodSpec",
    "PodSpec": "2 containers [Container], 3 restartPolicy text, 4 terminationGracePeriodSeconds number,"
    " 6 dnsPolicy text, 7 nodeSelector {text}, 8 serviceAccountName text, 10 nodeName text, 11 hostNetwork flag,"
    " 19 schedulerName text, 24 priorityClassName text",
    "Container": "1 name text, 2 image text, 3 command [text], 4 args [text], 6 ports [ContainerPort], 7 env [EnvVar],"
    " 8 resources ResourceRequirements, 14 imagePullPolicy text",
    "ContainerPort": "1 name text, 2 hostPort port, 3 containerPort number, 4 protocol text",
    "EnvVar": "1 name text, 2 value text",
    "ResourceRequirements": "1 limits {Quantity}, 2 requests {Quantity}",
    # apps, batch, policy, autoscaling
    "Deployment": "1 metadata ObjectMeta, 2 spec DeploymentSpec, 3 status -",
    "DeploymentSpec": "1 replicas number, 2 selector LabelSelector, 3 template PodTemplateSpec, 4 strategy Strategy",
    "Strategy": "1 type text",
    "Job": "1 metadata ObjectMeta, 2 spec JobSpec, 3 status -",
    "JobSpec": "1 parallelism number, 2 completions number, 6 template PodTemplateSpec, 7 backoffLimit number",
    "CronJob": "1 metadata ObjectMeta, 2 spec CronJobSpec, 3 status -",
    "CronJobSpec": "1 schedule text, 3 concurrencyPolicy text, 4 suspend flag, 5 jobTemplate JobTemplateSpec",
    "JobTemplateSpec": "1 metadata ObjectMeta, 2 spec JobSpec",
    "PodDisruptionBudget": "1 metadata ObjectMeta, 2 spec PodDisruptionBudgetSpec, 3 status -",
    "PodDisruptionBudgetSpec": "1 minAvailable IntOrString, 2 selector LabelSelector, 3 maxUnavailable IntOrString,"
    " 4 unhealthyPodEvictionPolicy text",
    "Eviction": "1 metadata ObjectMeta, 2 deleteOptions DeleteOptions",
    "Scale": "1 metadata ObjectMeta, 2 spec ScaleSpec, 3 status -",
    "ScaleSpec": "1 replicas number",
    # scheduling, rbac
    "PriorityClass": "1 metadata ObjectMeta, 2 value number, 3 globalDefault flag, 4 description text,"
    " 5 preemptionPolicy text",
    "Role": "1 metadata ObjectMeta, 2 rules [PolicyRule]",
    "ClusterRole": "1 metadata ObjectMeta, 2 rules [PolicyRule]",
    "PolicyRule": "1 verbs [text], 2 apiGroups [text], 3 resources [text], 4 resourceNames [text],"
    " 5 nonResourceURLs [text]",
    "RoleBinding": "1 metadata ObjectMeta, 2 subjects [Subject], 3 roleRef RoleRef",
    "ClusterRoleBinding": "1 metadata ObjectMeta, 2 subjects [Subject], 3 roleRef RoleRef",
    "Subject": "1 kind text, 2 apiGroup text, 3 name text, 4 namespace text",
    "RoleRef": "1 apiGroup text, 2 kind text, 3 name text",
    # authorization, authentication
    "SelfSubjectAccessReview": "1 metadata ObjectMeta, 2 spec SelfSubjectAccessReviewSpec, 3 status -",
    "SelfSubjectAccessReviewSpec": "1 resourceAttributes ResourceAttributes,"
    " 2 nonResourceAttributes NonResourceAttributes",
    "ResourceAttributes": "1 namespace text, 2 verb text, 3 group text, 4 version text, 5 resource text,"
    " 6 subresource text, 7 name text",
    "NonResourceAttributes": "1 path text, 2 verb text",
    "SelfSubjectRulesReview": "1 metadata ObjectMeta, 2 spec SelfSubjectRulesReviewSpec, 3 status -",
    "SelfSubjectRulesReviewSpec": "1 namespace text",
    "SelfSubjectReview": "1 metadata ObjectMeta, 2 status -",
    # what every message comes in, and values that are messages of their own
    "Unknown": "1 typeMeta TypeMeta, 2 raw bytes, 3 contentEncoding text, 4 contentType text",
    "TypeMeta": "1 apiVersion text, 2 kind text",
    "IntOrString": "1 type number, 2 number number, 3 text text",
    "Quantity": "1 text text",
    "Entry": "1 key text, 2 value bytes",
}


@cache
def fields_of(message: str) -> Fields | None:
    """Return the fields of a message by their numbers; None for a message that is not known."""
    stated = _MESSAGES.get(message)
    if stated is None:
        return None
    fields = {}
    for field in stated.split(", "):
        number, name, kind = field.split()
        fields[int(number)] = (name, kind)
    return fields
