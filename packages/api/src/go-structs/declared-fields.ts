import type { ObjectSchema } from '../schema/schema.ts'

/**
 * The fields of upstream's structs that stand in another order than those of the schema, where validation has its own.
 * `../../test/go-fields.test.ts` compares them with upstream.
 */
const declared = `
io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicyBindingSpec: policyName paramRef matchResources
io.k8s.api.admissionregistration.v1.MutatingAdmissionPolicySpec: paramKind matchConstraints variables mutations failurePolicy
  matchConditions reinvocationPolicy
io.k8s.api.admissionregistration.v1.MutatingWebhook: name clientConfig rules failurePolicy matchPolicy namespaceSelector objectSelector
  sideEffects timeoutSeconds admissionReviewVersions reinvocationPolicy matchConditions
io.k8s.api.admissionregistration.v1.Mutation: patchType applyConfiguration jsonPatch
io.k8s.api.authentication.v1.TokenReviewSpec: token audiences
io.k8s.api.authentication.v1.TokenReviewStatus: authenticated user audiences error
io.k8s.api.authentication.v1.UserInfo: username uid groups extra
io.k8s.api.authorization.v1.NonResourceRule: verbs nonResourceURLs
io.k8s.api.authorization.v1.ResourceAttributes: namespace verb group version resource subresource name fieldSelector labelSelector
io.k8s.api.authorization.v1.ResourceRule: verbs apiGroups resources resourceNames
io.k8s.api.authorization.v1.SelfSubjectAccessReviewSpec: resourceAttributes nonResourceAttributes
io.k8s.api.authorization.v1.SubjectAccessReviewSpec: resourceAttributes nonResourceAttributes user groups extra uid
io.k8s.api.authorization.v1.SubjectAccessReviewStatus: allowed denied reason evaluationError
io.k8s.api.authorization.v1.SubjectRulesReviewStatus: resourceRules nonResourceRules incomplete evaluationError
io.k8s.api.core.v1.AzureDiskVolumeSource: diskName diskURI cachingMode fsType readOnly kind
io.k8s.api.core.v1.CSIVolumeSource: driver readOnly fsType volumeAttributes nodePublishSecretRef
io.k8s.api.core.v1.ContainerPort: name hostPort containerPort protocol hostIP
io.k8s.api.core.v1.FCVolumeSource: targetWWNs lun fsType readOnly wwids
io.k8s.api.core.v1.LifecycleHandler: exec httpGet tcpSocket sleep
io.k8s.api.core.v1.PersistentVolumeClaimSpec: accessModes selector resources volumeName storageClassName volumeMode dataSource
  dataSourceRef volumeAttributesClassName
io.k8s.api.core.v1.PersistentVolumeSpec: capacity gcePersistentDisk awsElasticBlockStore hostPath glusterfs nfs rbd iscsi cinder cephfs fc
  flocker flexVolume azureFile vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume scaleIO local storageos csi accessModes
  claimRef persistentVolumeReclaimPolicy storageClassName mountOptions volumeMode nodeAffinity volumeAttributesClassName
io.k8s.api.core.v1.PodAffinityTerm: labelSelector namespaces topologyKey namespaceSelector matchLabelKeys mismatchLabelKeys
io.k8s.api.core.v1.PodCondition: type observedGeneration status lastProbeTime lastTransitionTime reason message
io.k8s.api.core.v1.PodSecurityContext: seLinuxOptions windowsOptions runAsUser runAsGroup runAsNonRoot supplementalGroups
  supplementalGroupsPolicy fsGroup sysctls fsGroupChangePolicy seccompProfile appArmorProfile seLinuxChangePolicy
io.k8s.api.core.v1.PodSpec: volumes initContainers containers ephemeralContainers restartPolicy terminationGracePeriodSeconds
  activeDeadlineSeconds dnsPolicy nodeSelector serviceAccountName serviceAccount automountServiceAccountToken nodeName hostNetwork hostPID
  hostIPC shareProcessNamespace securityContext imagePullSecrets hostname subdomain affinity schedulerName tolerations hostAliases
  priorityClassName priority dnsConfig readinessGates runtimeClassName enableServiceLinks preemptionPolicy overhead
  topologySpreadConstraints setHostnameAsFQDN os hostUsers schedulingGates resourceClaims resources hostnameOverride schedulingGroup
io.k8s.api.core.v1.PodStatus: observedGeneration phase conditions message reason nominatedNodeName hostIP hostIPs podIP podIPs startTime
  initContainerStatuses containerStatuses qosClass ephemeralContainerStatuses resize resourceClaimStatuses extendedResourceClaimStatus
  allocatedResources resources nodeAllocatableResourceClaimStatuses
io.k8s.api.core.v1.ResourceRequirements: limits requests claims
io.k8s.api.core.v1.SecurityContext: capabilities privileged seLinuxOptions windowsOptions runAsUser runAsGroup runAsNonRoot
  readOnlyRootFilesystem allowPrivilegeEscalation procMount seccompProfile appArmorProfile
io.k8s.api.core.v1.TopologySpreadConstraint: maxSkew topologyKey whenUnsatisfiable labelSelector minDomains nodeAffinityPolicy
  nodeTaintsPolicy matchLabelKeys
io.k8s.api.core.v1.Volume: name hostPath emptyDir gcePersistentDisk awsElasticBlockStore gitRepo secret nfs iscsi glusterfs
  persistentVolumeClaim rbd flexVolume cinder cephfs flocker downwardAPI fc azureFile configMap vsphereVolume quobyte azureDisk
  photonPersistentDisk projected portworxVolume scaleIO storageos csi ephemeral image
io.k8s.api.core.v1.VolumeMount: name readOnly recursiveReadOnly mountPath subPath mountPropagation subPathExpr
io.k8s.api.core.v1.VolumeProjection: secret downwardAPI configMap serviceAccountToken clusterTrustBundle podCertificate
io.k8s.api.networking.v1.IngressSpec: ingressClassName defaultBackend tls rules
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionCondition: type status lastTransitionTime reason message
  observedGeneration
`

/** Structs that Go holds by a pointer, although the schema has them in any object that is complete. */
const heldByPointer: ReadonlySet<string> = new Set([
  'io.k8s.api.admissionregistration.v1.MatchResources.namespaceSelector',
  'io.k8s.api.admissionregistration.v1.MatchResources.objectSelector',
  'io.k8s.api.admissionregistration.v1.MutatingWebhook.namespaceSelector',
  'io.k8s.api.admissionregistration.v1.MutatingWebhook.objectSelector',
  'io.k8s.api.admissionregistration.v1.ValidatingWebhook.namespaceSelector',
  'io.k8s.api.admissionregistration.v1.ValidatingWebhook.objectSelector',
  'io.k8s.api.apps.v1.DaemonSetSpec.selector',
  'io.k8s.api.apps.v1.DeploymentSpec.selector',
  'io.k8s.api.apps.v1.ReplicaSetSpec.selector',
  'io.k8s.api.apps.v1.StatefulSetSpec.persistentVolumeClaimRetentionPolicy',
  'io.k8s.api.apps.v1.StatefulSetSpec.selector',
  'io.k8s.api.core.v1.PodSpec.securityContext',
  'io.k8s.api.networking.v1.IPAddressSpec.parentRef',
])

/** Those of them that are written as null where there is none. */
const isSelector = /^io\.k8s\.api\.apps\.v1\.\w+\.selector$/

/** Whether Go's JSON has a null where upstream's struct has no other as the value of this field. */
export function isNullWithoutStruct({ name }: ObjectSchema, field: string): boolean {
  const path = `${name}.${field}`
  return heldByPointer.has(path) && isSelector.test(path)
}

/** Numbers or texts that structs have in themselves: Go's JSON never omits them. */
const portsHeldByValue: ReadonlySet<string> = new Set([
  'io.k8s.api.core.v1.HTTPGetAction.port',
  'io.k8s.api.core.v1.ServicePort.targetPort',
  'io.k8s.api.core.v1.TCPSocketAction.port',
])

/** Whether upstream's struct has a zero, where the port of this field is not set. */
export const isZeroWithoutPort = ({ name }: ObjectSchema, field: string): boolean =>
  portsHeldByValue.has(`${name}.${field}`)

let ordered: ReadonlyMap<string, readonly string[]> | undefined

/** The fields of a schema in the order in which upstream's struct declares them. */
export function declaredFields({ name, fields }: ObjectSchema): readonly string[] {
  ordered ??= readDeclared(declared)
  const known = ordered.get(name)
  const names = Object.keys(fields)
  return known === undefined ? names : [...known, ...names.filter((each) => !known.includes(each))]
}

/** Whether upstream's struct has another, the value of this field, in itself: there is always one. */
export function isHeldByValue({ name, fields }: ObjectSchema, field: string): boolean {
  const found = fields[field]
  if (found === undefined || heldByPointer.has(`${name}.${field}`)) return false
  return found.required || found.byValue === true || found.default !== undefined
}

function readDeclared(text: string): ReadonlyMap<string, readonly string[]> {
  const entries = text
    .trim()
    .split(/\n(?! )/)
    .map((entry) => {
      const [name = '', ...fields] = entry.split(/:?\s+/)
      return [name, fields] as const
    })
  return new Map(entries)
}
