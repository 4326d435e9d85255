/**
 * Which number a field has in upstream's protobuf messages: what `generated.proto` of k8s.io/api and
 * k8s.io/apimachinery say (Kubernetes 1.35), a message a line, by the JSON names of the fields.
 *
 * - Fields stand in the order of their numbers. The first is 1 and each is one more than the one before, unless it
 *   says another: `4:optional` is 4.
 * - `...LocalObjectReference` is a field as well: it holds a message whose fields stand beside the others in JSON, a
 *   struct that is embedded in Go.
 * - `optional*` says that an empty value is one that was chosen, and is there in JSON (a pointer in Go). Elsewhere
 *   clients write an empty string, a zero or a false for what is not there at all, unless it is required.
 */
export const protobufMessages = {
  'io.k8s.api.autoscaling.v1': `
CrossVersionObjectReference: kind name apiVersion
HorizontalPodAutoscaler: metadata spec status
HorizontalPodAutoscalerSpec: scaleTargetRef minReplicas* maxReplicas targetCPUUtilizationPercentage*
HorizontalPodAutoscalerStatus: observedGeneration* lastScaleTime currentReplicas desiredReplicas
  currentCPUUtilizationPercentage*
Scale: metadata spec status
ScaleSpec: replicas
ScaleStatus: replicas selector
`,
  'io.k8s.api.autoscaling.v2': `
ContainerResourceMetricSource: name target container
ContainerResourceMetricStatus: name current container
CrossVersionObjectReference: kind name apiVersion
ExternalMetricSource: metric target
ExternalMetricStatus: metric current
HPAScalingPolicy: type value periodSeconds
HPAScalingRules: selectPolicy* policies stabilizationWindowSeconds* tolerance*
HorizontalPodAutoscaler: metadata spec status
HorizontalPodAutoscalerBehavior: scaleUp scaleDown
HorizontalPodAutoscalerCondition: type status lastTransitionTime reason message
HorizontalPodAutoscalerSpec: scaleTargetRef minReplicas* maxReplicas metrics behavior
HorizontalPodAutoscalerStatus: observedGeneration* lastScaleTime currentReplicas desiredReplicas currentMetrics
  conditions
MetricIdentifier: name selector
MetricSpec: type object pods resource external 7:containerResource
MetricStatus: type object pods resource external 7:containerResource
MetricTarget: type value averageValue averageUtilization*
MetricValueStatus: value averageValue averageUtilization*
ObjectMetricSource: describedObject target metric
ObjectMetricStatus: metric current describedObject
PodsMetricSource: metric target
PodsMetricStatus: metric current
ResourceMetricSource: name target
ResourceMetricStatus: name current
`,
  'io.k8s.api.coordination.v1': `
Lease: metadata spec
LeaseSpec: holderIdentity* leaseDurationSeconds* acquireTime renewTime leaseTransitions* strategy* preferredHolder*
`,
  'io.k8s.api.core.v1': `
AWSElasticBlockStoreVolumeSource: volumeID fsType partition readOnly
Affinity: nodeAffinity podAffinity podAntiAffinity
AppArmorProfile: type localhostProfile*
AttachedVolume: name devicePath
AzureDiskVolumeSource: diskName diskURI cachingMode* fsType* readOnly* kind*
AzureFileVolumeSource: secretName shareName readOnly
Binding: metadata target
CSIVolumeSource: driver readOnly* fsType* volumeAttributes nodePublishSecretRef
Capabilities: add drop
CephFSVolumeSource: monitors path user secretFile secretRef readOnly
CinderVolumeSource: volumeID fsType readOnly secretRef
ClusterTrustBundleProjection: name* signerName* labelSelector path optional*
ConfigMap: metadata data binaryData immutable*
ConfigMapEnvSource: ...LocalObjectReference optional*
ConfigMapKeySelector: ...LocalObjectReference key optional*
ConfigMapNodeConfigSource: namespace name uid resourceVersion kubeletConfigKey
ConfigMapProjection: ...LocalObjectReference items 4:optional*
ConfigMapVolumeSource: ...LocalObjectReference items defaultMode* optional*
Container: name image command args workingDir ports env resources volumeMounts livenessProbe readinessProbe
  lifecycle terminationMessagePath imagePullPolicy securityContext stdin stdinOnce tty envFrom
  terminationMessagePolicy volumeDevices startupProbe resizePolicy restartPolicy* restartPolicyRules
ContainerExtendedResourceRequest: containerName resourceName requestName
ContainerImage: names sizeBytes
ContainerPort: name hostPort containerPort protocol hostIP
ContainerResizePolicy: resourceName restartPolicy
ContainerRestartRule: action exitCodes
ContainerRestartRuleOnExitCodes: operator values
ContainerState: waiting running terminated
ContainerStateRunning: startedAt
ContainerStateTerminated: exitCode signal reason message startedAt finishedAt containerID
ContainerStateWaiting: reason message
ContainerStatus: name state lastState ready restartCount image imageID containerID started* allocatedResources
  resources volumeMounts user allocatedResourcesStatus stopSignal*
ContainerUser: linux
DaemonEndpoint: Port
DownwardAPIProjection: items
DownwardAPIVolumeFile: path fieldRef resourceFieldRef mode*
DownwardAPIVolumeSource: items defaultMode*
EmptyDirVolumeSource: medium sizeLimit
EnvFromSource: prefix configMapRef secretRef
EnvVar: name value valueFrom
EnvVarSource: fieldRef resourceFieldRef configMapKeyRef secretKeyRef fileKeyRef
EphemeralContainer: ...EphemeralContainerCommon targetContainerName
EphemeralContainerCommon: name image command args workingDir ports env resources volumeMounts livenessProbe
  readinessProbe lifecycle terminationMessagePath imagePullPolicy securityContext stdin stdinOnce tty envFrom
  terminationMessagePolicy volumeDevices startupProbe resizePolicy restartPolicy* restartPolicyRules
EphemeralVolumeSource: volumeClaimTemplate
Event: metadata involvedObject reason message source firstTimestamp lastTimestamp count type eventTime series action
  related reportingComponent* reportingInstance*
EventSeries: count lastObservedTime
EventSource: component host
ExecAction: command
FCVolumeSource: targetWWNs lun* fsType readOnly wwids
FileKeySelector: volumeName path key optional*
FlexVolumeSource: driver fsType secretRef readOnly options
FlockerVolumeSource: datasetName datasetUUID
GCEPersistentDiskVolumeSource: pdName fsType partition readOnly
GRPCAction: port service*
GitRepoVolumeSource: repository revision directory
GlusterfsVolumeSource: endpoints path readOnly
HTTPGetAction: path port host scheme httpHeaders
HTTPHeader: name value
HostAlias: ip hostnames
HostIP: ip
HostPathVolumeSource: path type*
ISCSIVolumeSource: targetPortal iqn lun iscsiInterface fsType readOnly portals chapAuthDiscovery 10:secretRef
  chapAuthSession initiatorName*
ImageVolumeSource: reference pullPolicy
KeyToPath: key path mode*
Lifecycle: postStart preStop stopSignal*
LifecycleHandler: exec httpGet tcpSocket sleep
LinuxContainerUser: uid gid supplementalGroups
LocalObjectReference: name
NFSVolumeSource: server path readOnly
Namespace: metadata spec status
NamespaceCondition: type status 4:lastTransitionTime reason message
NamespaceSpec: finalizers
NamespaceStatus: phase conditions
Node: metadata spec status
NodeAddress: type address
NodeAffinity: requiredDuringSchedulingIgnoredDuringExecution preferredDuringSchedulingIgnoredDuringExecution
NodeCondition: type status lastHeartbeatTime lastTransitionTime reason message
NodeConfigSource: 2:configMap
NodeConfigStatus: assigned active lastKnownGood error
NodeDaemonEndpoints: kubeletEndpoint
NodeFeatures: supplementalGroupsPolicy*
NodeRuntimeHandler: name* features
NodeRuntimeHandlerFeatures: recursiveReadOnlyMounts* userNamespaces*
NodeSelector: nodeSelectorTerms
NodeSelectorRequirement: key operator values
NodeSelectorTerm: matchExpressions matchFields
NodeSpec: podCIDR externalID providerID unschedulable taints configSource podCIDRs
NodeStatus: capacity allocatable phase conditions addresses daemonEndpoints nodeInfo images volumesInUse
  volumesAttached config runtimeHandlers features declaredFeatures
NodeSwapStatus: capacity*
NodeSystemInfo: machineID systemUUID bootID kernelVersion osImage containerRuntimeVersion kubeletVersion
  kubeProxyVersion operatingSystem architecture swap
ObjectFieldSelector: apiVersion fieldPath
ObjectReference: kind namespace name uid apiVersion resourceVersion fieldPath
PersistentVolumeClaimSpec: accessModes resources volumeName selector storageClassName* volumeMode* dataSource
  dataSourceRef volumeAttributesClassName*
PersistentVolumeClaimTemplate: metadata spec
PersistentVolumeClaimVolumeSource: claimName readOnly
PhotonPersistentDiskVolumeSource: pdID fsType
Pod: metadata spec status
PodAffinity: requiredDuringSchedulingIgnoredDuringExecution preferredDuringSchedulingIgnoredDuringExecution
PodAffinityTerm: labelSelector namespaces topologyKey namespaceSelector matchLabelKeys mismatchLabelKeys
PodAntiAffinity: requiredDuringSchedulingIgnoredDuringExecution preferredDuringSchedulingIgnoredDuringExecution
PodCertificateProjection: signerName keyType maxExpirationSeconds* credentialBundlePath keyPath certificateChainPath
  userAnnotations
PodCondition: type status lastProbeTime lastTransitionTime reason message observedGeneration
PodDNSConfig: nameservers searches options
PodDNSConfigOption: name value*
PodExtendedResourceClaimStatus: requestMappings resourceClaimName
PodIP: ip
PodOS: name
PodReadinessGate: conditionType
PodResourceClaim: name 3:resourceClaimName* resourceClaimTemplateName*
PodResourceClaimStatus: name resourceClaimName*
PodSchedulingGate: name
PodSecurityContext: seLinuxOptions runAsUser* runAsNonRoot* supplementalGroups fsGroup* runAsGroup* sysctls
  windowsOptions fsGroupChangePolicy* seccompProfile appArmorProfile supplementalGroupsPolicy* seLinuxChangePolicy*
PodSpec: volumes containers restartPolicy terminationGracePeriodSeconds* activeDeadlineSeconds* dnsPolicy
  nodeSelector serviceAccountName serviceAccount nodeName hostNetwork hostPID hostIPC securityContext
  imagePullSecrets hostname subdomain affinity schedulerName initContainers automountServiceAccountToken*
  tolerations hostAliases priorityClassName priority* dnsConfig shareProcessNamespace* readinessGates
  runtimeClassName* enableServiceLinks* preemptionPolicy* overhead topologySpreadConstraints ephemeralContainers
  setHostnameAsFQDN* os hostUsers* schedulingGates resourceClaims resources hostnameOverride*
PodStatus: phase conditions message reason hostIP podIP startTime containerStatuses qosClass initContainerStatuses
  nominatedNodeName podIPs ephemeralContainerStatuses resize resourceClaimStatuses hostIPs observedGeneration
  extendedResourceClaimStatus allocatedResources resources
PodTemplateSpec: metadata spec
PortworxVolumeSource: volumeID fsType readOnly
PreferredSchedulingTerm: weight preference
Probe: ...ProbeHandler initialDelaySeconds timeoutSeconds periodSeconds successThreshold failureThreshold
  terminationGracePeriodSeconds*
ProbeHandler: exec httpGet tcpSocket grpc
ProjectedVolumeSource: sources defaultMode*
QuobyteVolumeSource: registry volume readOnly user group tenant
RBDVolumeSource: monitors image fsType pool user keyring secretRef readOnly
ReplicationController: metadata spec status
ReplicationControllerCondition: type status lastTransitionTime reason message
ReplicationControllerSpec: replicas* selector template minReadySeconds
ReplicationControllerStatus: replicas fullyLabeledReplicas observedGeneration readyReplicas availableReplicas
  conditions
ResourceClaim: name request
ResourceFieldSelector: containerName resource divisor
ResourceHealth: resourceID health
ResourceRequirements: limits requests claims
ResourceStatus: name resources
SELinuxOptions: user role type level
ScaleIOVolumeSource: gateway system secretRef sslEnabled protectionDomain storagePool storageMode volumeName fsType
  readOnly
SeccompProfile: type localhostProfile*
Secret: metadata data type stringData immutable*
SecretEnvSource: ...LocalObjectReference optional*
SecretKeySelector: ...LocalObjectReference key optional*
SecretProjection: ...LocalObjectReference items 4:optional*
SecretVolumeSource: secretName items defaultMode* optional*
SecurityContext: capabilities privileged* seLinuxOptions runAsUser* runAsNonRoot* readOnlyRootFilesystem*
  allowPrivilegeEscalation* runAsGroup* procMount* windowsOptions seccompProfile appArmorProfile
ServiceAccount: metadata secrets imagePullSecrets automountServiceAccountToken*
ServiceAccountTokenProjection: audience expirationSeconds* path
SleepAction: seconds
StorageOSVolumeSource: volumeName volumeNamespace fsType readOnly secretRef
Sysctl: name value
TCPSocketAction: port host
Taint: key value effect timeAdded
Toleration: key operator value effect tolerationSeconds*
TopologySpreadConstraint: maxSkew topologyKey whenUnsatisfiable labelSelector minDomains* nodeAffinityPolicy*
  nodeTaintsPolicy* matchLabelKeys
TypedLocalObjectReference: apiGroup* kind name
TypedObjectReference: apiGroup* kind name namespace*
Volume: name ...VolumeSource
VolumeDevice: name devicePath
VolumeMount: name readOnly mountPath subPath mountPropagation* subPathExpr recursiveReadOnly*
VolumeMountStatus: name mountPath readOnly recursiveReadOnly*
VolumeProjection: secret downwardAPI configMap serviceAccountToken clusterTrustBundle podCertificate
VolumeResourceRequirements: limits requests
VolumeSource: hostPath emptyDir gcePersistentDisk awsElasticBlockStore gitRepo secret nfs iscsi glusterfs
  persistentVolumeClaim rbd flexVolume cinder cephfs flocker downwardAPI fc azureFile configMap vsphereVolume
  quobyte azureDisk photonPersistentDisk portworxVolume scaleIO projected storageos csi ephemeral image
VsphereVirtualDiskVolumeSource: volumePath fsType storagePolicyName storagePolicyID
WeightedPodAffinityTerm: weight podAffinityTerm
WindowsSecurityContextOptions: gmsaCredentialSpecName* gmsaCredentialSpec* runAsUserName* hostProcess*
`,
  'io.k8s.api.events.v1': `
Event: metadata eventTime series reportingController reportingInstance action reason regarding related note type
  deprecatedSource deprecatedFirstTimestamp deprecatedLastTimestamp deprecatedCount
EventSeries: count lastObservedTime
`,
  'io.k8s.apimachinery.pkg.apis.meta.v1': `
DeleteOptions: gracePeriodSeconds* preconditions orphanDependents* propagationPolicy* dryRun
  ignoreStoreReadErrorWithClusterBreakingPotential*
LabelSelector: matchLabels matchExpressions
LabelSelectorRequirement: key operator values
ManagedFieldsEntry: manager operation apiVersion time 6:fieldsType fieldsV1 subresource
ObjectMeta: name generateName namespace selfLink uid resourceVersion generation creationTimestamp deletionTimestamp
  deletionGracePeriodSeconds* labels annotations ownerReferences finalizers 17:managedFields
OwnerReference: kind 3:name uid apiVersion controller* blockOwnerDeletion*
Preconditions: uid* resourceVersion*
`,
} as const satisfies Readonly<Record<string, string>>
