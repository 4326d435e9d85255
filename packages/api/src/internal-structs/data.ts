/** Written by `../../test/data/extract-internal-structs.ts` from the types of Kubernetes 1.36: not to be changed by hand. */

/** The structs that refusals show. */
export type ShownStruct =
  | 'admissionregistration.AuditAnnotation'
  | 'batch.PodFailurePolicy'
  | 'batch.SuccessPolicy'
  | 'core.ClusterTrustBundleProjection'
  | 'core.EventSource'
  | 'core.HostIP'
  | 'core.NodeAddress'
  | 'core.NodeConfigSource'
  | 'core.NodeSelectorTerm'
  | 'core.ObjectReference'
  | 'core.PodIP'
  | 'core.PodResourceClaim'
  | 'core.PodSpec'
  | 'core.PodTemplateSpec'
  | 'core.ScopeSelector'
  | 'core.SeccompProfile'
  | 'core.SecurityContext'
  | 'core.Taint'
  | 'core.VolumeNodeAffinity'
  | 'flowcontrol.FlowSchemaSpec'
  | 'flowcontrol.PriorityLevelConfigurationSpec'
  | 'metav1.LabelSelector'
  | 'metav1.OwnerReference'
  | 'resource.AllocationResult'
  | 'resource.DeviceAttribute'
  | 'resource.ResourceClaimSpec'
  | 'resource.ResourceClaimTemplateSpec'
  | 'storage.CSINodeDriver'
  | 'storage.VolumeAttachmentSpec'

/**
 * Structs with their fields, those of the refusals and what they have in them. A field has its name in Go, and in the API where that is not
 * the same but for its first letter; `^`: of the object around. Fields whose structs say their names in JSON have those, and `?`
 * where they are omitted. What is there where nothing is set: a null, `:s` a text, `:n` a number, `:b` a false, `:q` a quantity,
 * `:X` a struct. `:*X`: a null, or structs; `:%X` a map of structs, `:m` of others; `:&X`: the fields of a struct.
 */
export const structs = `
admissionregistration.AuditAnnotation Key:s ValueExpression:s
batch.PodFailurePolicy Rules:*batch.PodFailurePolicyRule
batch.PodFailurePolicyOnExitCodesRequirement ContainerName Operator:s Values
batch.PodFailurePolicyOnPodConditionsPattern Type:s Status:s
batch.PodFailurePolicyRule Action:s OnExitCodes:*batch.PodFailurePolicyOnExitCodesRequirement OnPodConditions:*batch.PodFailurePolicyOnPodConditionsPattern
batch.SuccessPolicy Rules:*batch.SuccessPolicyRule
batch.SuccessPolicyRule SucceededIndexes SucceededCount
core.AWSElasticBlockStoreVolumeSource VolumeID:s FSType=fsType:s Partition:n ReadOnly:b
core.Affinity NodeAffinity:*core.NodeAffinity PodAffinity:*core.PodAffinity PodAntiAffinity:*core.PodAntiAffinity
core.AppArmorProfile Type:s LocalhostProfile
core.AzureDiskVolumeSource DiskName:s DataDiskURI=diskURI:s CachingMode FSType=fsType ReadOnly Kind
core.AzureFilePersistentVolumeSource SecretName:s ShareName:s ReadOnly:b SecretNamespace
core.AzureFileVolumeSource SecretName:s ShareName:s ReadOnly:b
core.CSIPersistentVolumeSource Driver:s VolumeHandle:s ReadOnly:b FSType=fsType:s VolumeAttributes:m ControllerPublishSecretRef:*core.SecretReference NodeStageSecretRef:*core.SecretReference NodePublishSecretRef:*core.SecretReference ControllerExpandSecretRef:*core.SecretReference NodeExpandSecretRef:*core.SecretReference
core.CSIVolumeSource Driver:s ReadOnly FSType=fsType VolumeAttributes:m NodePublishSecretRef:*core.LocalObjectReference
core.Capabilities Add Drop
core.CephFSPersistentVolumeSource Monitors Path:s User:s SecretFile:s SecretRef:*core.SecretReference ReadOnly:b
core.CephFSVolumeSource Monitors Path:s User:s SecretFile:s SecretRef:*core.LocalObjectReference ReadOnly:b
core.CinderPersistentVolumeSource VolumeID:s FSType=fsType:s ReadOnly:b SecretRef:*core.SecretReference
core.CinderVolumeSource VolumeID:s FSType=fsType:s ReadOnly:b SecretRef:*core.LocalObjectReference
core.ClusterTrustBundleProjection Name SignerName LabelSelector:*metav1.LabelSelector Optional Path:s
core.ConfigMapEnvSource LocalObjectReference:&core.LocalObjectReference Optional
core.ConfigMapKeySelector LocalObjectReference:&core.LocalObjectReference Key:s Optional
core.ConfigMapNodeConfigSource Namespace:s Name:s UID=uid:s ResourceVersion:s KubeletConfigKey:s
core.ConfigMapProjection LocalObjectReference:&core.LocalObjectReference Items:*core.KeyToPath Optional
core.ConfigMapVolumeSource LocalObjectReference:&core.LocalObjectReference Items:*core.KeyToPath DefaultMode Optional
core.Container Name:s Image:s Command Args WorkingDir:s Ports:*core.ContainerPort EnvFrom:*core.EnvFromSource Env:*core.EnvVar Resources:core.ResourceRequirements ResizePolicy:*core.ContainerResizePolicy RestartPolicy RestartPolicyRules:*core.ContainerRestartRule VolumeMounts:*core.VolumeMount VolumeDevices:*core.VolumeDevice LivenessProbe:*core.Probe ReadinessProbe:*core.Probe StartupProbe:*core.Probe Lifecycle:*core.Lifecycle TerminationMessagePath:s TerminationMessagePolicy:s ImagePullPolicy:s SecurityContext:*core.SecurityContext Stdin:b StdinOnce:b TTY=tty:b
core.ContainerPort Name:s HostPort:n ContainerPort:n Protocol:s HostIP:s
core.ContainerResizePolicy ResourceName:s RestartPolicy:s
core.ContainerRestartRule Action:s ExitCodes:*core.ContainerRestartRuleOnExitCodes
core.ContainerRestartRuleOnExitCodes Operator:s Values
core.DownwardAPIProjection Items:*core.DownwardAPIVolumeFile
core.DownwardAPIVolumeFile Path:s FieldRef:*core.ObjectFieldSelector ResourceFieldRef:*core.ResourceFieldSelector Mode
core.DownwardAPIVolumeSource Items:*core.DownwardAPIVolumeFile DefaultMode
core.EmptyDirVolumeSource Medium:s SizeLimit
core.EnvFromSource Prefix:s ConfigMapRef:*core.ConfigMapEnvSource SecretRef:*core.SecretEnvSource
core.EnvVar Name:s Value:s ValueFrom:*core.EnvVarSource
core.EnvVarSource FieldRef:*core.ObjectFieldSelector ResourceFieldRef:*core.ResourceFieldSelector ConfigMapKeyRef:*core.ConfigMapKeySelector SecretKeyRef:*core.SecretKeySelector FileKeyRef:*core.FileKeySelector
core.EphemeralContainer EphemeralContainerCommon:&core.EphemeralContainerCommon TargetContainerName:s
core.EphemeralContainerCommon Name:s Image:s Command Args WorkingDir:s Ports:*core.ContainerPort EnvFrom:*core.EnvFromSource Env:*core.EnvVar Resources:core.ResourceRequirements ResizePolicy:*core.ContainerResizePolicy RestartPolicy RestartPolicyRules:*core.ContainerRestartRule VolumeMounts:*core.VolumeMount VolumeDevices:*core.VolumeDevice LivenessProbe:*core.Probe ReadinessProbe:*core.Probe StartupProbe:*core.Probe Lifecycle:*core.Lifecycle TerminationMessagePath:s TerminationMessagePolicy:s ImagePullPolicy:s SecurityContext:*core.SecurityContext Stdin:b StdinOnce:b TTY=tty:b
core.EphemeralVolumeSource VolumeClaimTemplate:*core.PersistentVolumeClaimTemplate
core.EventSource Component:s Host:s
core.ExecAction Command
core.FCVolumeSource TargetWWNs Lun FSType=fsType:s ReadOnly:b WWIDs=wwids
core.FileKeySelector VolumeName:s Path:s Key:s Optional
core.FlexPersistentVolumeSource Driver:s FSType=fsType:s SecretRef:*core.SecretReference ReadOnly:b Options:m
core.FlexVolumeSource Driver:s FSType=fsType:s SecretRef:*core.LocalObjectReference ReadOnly:b Options:m
core.FlockerVolumeSource DatasetName:s DatasetUUID:s
core.GCEPersistentDiskVolumeSource PDName=pdName:s FSType=fsType:s Partition:n ReadOnly:b
core.GRPCAction Port:n Service
core.GitRepoVolumeSource Repository:s Revision:s Directory:s
core.GlusterfsPersistentVolumeSource EndpointsName=endpoints:s Path:s ReadOnly:b EndpointsNamespace
core.GlusterfsVolumeSource EndpointsName=endpoints:s Path:s ReadOnly:b
core.HTTPGetAction Path:s Port:n Host:s Scheme:s HTTPHeaders=httpHeaders:*core.HTTPHeader
core.HTTPHeader Name:s Value:s
core.HostAlias IP=ip:s Hostnames
core.HostIP IP=ip:s
core.HostPathVolumeSource Path:s Type
core.ISCSIPersistentVolumeSource TargetPortal:s IQN=iqn:s Lun:n ISCSIInterface=iscsiInterface:s FSType=fsType:s ReadOnly:b Portals DiscoveryCHAPAuth=chapAuthDiscovery:b SessionCHAPAuth=chapAuthSession:b SecretRef:*core.SecretReference InitiatorName
core.ISCSIVolumeSource TargetPortal:s IQN=iqn:s Lun:n ISCSIInterface=iscsiInterface:s FSType=fsType:s ReadOnly:b Portals DiscoveryCHAPAuth=chapAuthDiscovery:b SessionCHAPAuth=chapAuthSession:b SecretRef:*core.LocalObjectReference InitiatorName
core.ImageVolumeSource Reference:s PullPolicy:s
core.KeyToPath Key:s Path:s Mode
core.Lifecycle PostStart:*core.LifecycleHandler PreStop:*core.LifecycleHandler StopSignal
core.LifecycleHandler Exec:*core.ExecAction HTTPGet=httpGet:*core.HTTPGetAction TCPSocket=tcpSocket:*core.TCPSocketAction Sleep:*core.SleepAction
core.LocalObjectReference Name:s
core.LocalVolumeSource Path:s FSType=fsType
core.NFSVolumeSource Server:s Path:s ReadOnly:b
core.NodeAddress Type:s Address:s
core.NodeAffinity RequiredDuringSchedulingIgnoredDuringExecution:*core.NodeSelector PreferredDuringSchedulingIgnoredDuringExecution:*core.PreferredSchedulingTerm
core.NodeConfigSource ConfigMap:*core.ConfigMapNodeConfigSource
core.NodeSelector NodeSelectorTerms:*core.NodeSelectorTerm
core.NodeSelectorRequirement Key:s Operator:s Values
core.NodeSelectorTerm MatchExpressions:*core.NodeSelectorRequirement MatchFields:*core.NodeSelectorRequirement
core.ObjectFieldSelector APIVersion=apiVersion:s FieldPath:s
core.ObjectReference Kind:s Namespace:s Name:s UID=uid:s APIVersion=apiVersion:s ResourceVersion:s FieldPath:s
core.PersistentVolumeClaimSpec AccessModes Selector:*metav1.LabelSelector Resources:core.VolumeResourceRequirements VolumeName:s StorageClassName VolumeMode DataSource:*core.TypedLocalObjectReference DataSourceRef:*core.TypedObjectReference VolumeAttributesClassName
core.PersistentVolumeClaimTemplate ObjectMeta:&metav1.ObjectMeta Spec:core.PersistentVolumeClaimSpec
core.PersistentVolumeClaimVolumeSource ClaimName:s ReadOnly:b
core.PersistentVolumeSource GCEPersistentDisk=gcePersistentDisk:*core.GCEPersistentDiskVolumeSource AWSElasticBlockStore=awsElasticBlockStore:*core.AWSElasticBlockStoreVolumeSource HostPath:*core.HostPathVolumeSource Glusterfs:*core.GlusterfsPersistentVolumeSource NFS=nfs:*core.NFSVolumeSource RBD=rbd:*core.RBDPersistentVolumeSource Quobyte:*core.QuobyteVolumeSource ISCSI=iscsi:*core.ISCSIPersistentVolumeSource FlexVolume:*core.FlexPersistentVolumeSource Cinder:*core.CinderPersistentVolumeSource CephFS=cephfs:*core.CephFSPersistentVolumeSource FC=fc:*core.FCVolumeSource Flocker:*core.FlockerVolumeSource AzureFile:*core.AzureFilePersistentVolumeSource VsphereVolume:*core.VsphereVirtualDiskVolumeSource AzureDisk:*core.AzureDiskVolumeSource PhotonPersistentDisk:*core.PhotonPersistentDiskVolumeSource PortworxVolume:*core.PortworxVolumeSource ScaleIO:*core.ScaleIOPersistentVolumeSource Local:*core.LocalVolumeSource StorageOS=storageos:*core.StorageOSPersistentVolumeSource CSI=csi:*core.CSIPersistentVolumeSource
core.PersistentVolumeSpec Capacity:m PersistentVolumeSource:&core.PersistentVolumeSource AccessModes ClaimRef:*core.ObjectReference PersistentVolumeReclaimPolicy:s StorageClassName:s MountOptions VolumeMode NodeAffinity:*core.VolumeNodeAffinity VolumeAttributesClassName
core.PhotonPersistentDiskVolumeSource PdID:s FSType=fsType:s
core.PodAffinity RequiredDuringSchedulingIgnoredDuringExecution:*core.PodAffinityTerm PreferredDuringSchedulingIgnoredDuringExecution:*core.WeightedPodAffinityTerm
core.PodAffinityTerm LabelSelector:*metav1.LabelSelector Namespaces TopologyKey:s NamespaceSelector:*metav1.LabelSelector MatchLabelKeys MismatchLabelKeys
core.PodAntiAffinity RequiredDuringSchedulingIgnoredDuringExecution:*core.PodAffinityTerm PreferredDuringSchedulingIgnoredDuringExecution:*core.WeightedPodAffinityTerm
core.PodCertificateProjection SignerName:s KeyType:s MaxExpirationSeconds CredentialBundlePath:s KeyPath:s CertificateChainPath:s UserAnnotations:m
core.PodDNSConfig Nameservers Searches Options:*core.PodDNSConfigOption
core.PodDNSConfigOption Name:s Value
core.PodIP IP=ip:s
core.PodOS Name:s
core.PodReadinessGate ConditionType:s
core.PodResourceClaim Name:s ResourceClaimName ResourceClaimTemplateName
core.PodSchedulingGate Name:s
core.PodSchedulingGroup PodGroupName
core.PodSecurityContext HostNetwork=^hostNetwork:b HostPID=^hostPID:b HostIPC=^hostIPC:b ShareProcessNamespace=^shareProcessNamespace HostUsers=^hostUsers SELinuxOptions=seLinuxOptions:*core.SELinuxOptions WindowsOptions:*core.WindowsSecurityContextOptions RunAsUser RunAsGroup RunAsNonRoot SupplementalGroups SupplementalGroupsPolicy FSGroup=fsGroup FSGroupChangePolicy=fsGroupChangePolicy Sysctls:*core.Sysctl SeccompProfile:*core.SeccompProfile AppArmorProfile:*core.AppArmorProfile SELinuxChangePolicy=seLinuxChangePolicy
core.PodSpec Volumes:*core.Volume InitContainers:*core.Container Containers:*core.Container EphemeralContainers:*core.EphemeralContainer RestartPolicy:s TerminationGracePeriodSeconds ActiveDeadlineSeconds DNSPolicy=dnsPolicy:s NodeSelector:m ServiceAccountName:s AutomountServiceAccountToken NodeName:s SecurityContext:*core.PodSecurityContext ImagePullSecrets:*core.LocalObjectReference Hostname:s Subdomain:s SetHostnameAsFQDN Affinity:*core.Affinity SchedulerName:s Tolerations:*core.Toleration HostAliases:*core.HostAlias PriorityClassName:s Priority PreemptionPolicy DNSConfig=dnsConfig:*core.PodDNSConfig ReadinessGates:*core.PodReadinessGate RuntimeClassName Overhead:m EnableServiceLinks TopologySpreadConstraints:*core.TopologySpreadConstraint OS=os:*core.PodOS SchedulingGates:*core.PodSchedulingGate ResourceClaims:*core.PodResourceClaim Resources:*core.ResourceRequirements HostnameOverride SchedulingGroup:*core.PodSchedulingGroup
core.PodTemplateSpec ObjectMeta:&metav1.ObjectMeta Spec:core.PodSpec
core.PortworxVolumeSource VolumeID:s FSType=fsType:s ReadOnly:b
core.PreferredSchedulingTerm Weight:n Preference:core.NodeSelectorTerm
core.Probe ProbeHandler:&core.ProbeHandler InitialDelaySeconds:n TimeoutSeconds:n PeriodSeconds:n SuccessThreshold:n FailureThreshold:n TerminationGracePeriodSeconds
core.ProbeHandler Exec:*core.ExecAction HTTPGet=httpGet:*core.HTTPGetAction TCPSocket=tcpSocket:*core.TCPSocketAction GRPC=grpc:*core.GRPCAction
core.ProjectedVolumeSource Sources:*core.VolumeProjection DefaultMode
core.QuobyteVolumeSource Registry:s Volume:s ReadOnly:b User:s Group:s Tenant:s
core.RBDPersistentVolumeSource CephMonitors=monitors RBDImage=image:s FSType=fsType:s RBDPool=pool:s RadosUser=user:s Keyring:s SecretRef:*core.SecretReference ReadOnly:b
core.RBDVolumeSource CephMonitors=monitors RBDImage=image:s FSType=fsType:s RBDPool=pool:s RadosUser=user:s Keyring:s SecretRef:*core.LocalObjectReference ReadOnly:b
core.ResourceClaim Name:s Request:s
core.ResourceFieldSelector ContainerName:s Resource:s Divisor:q
core.ResourceRequirements Limits:m Requests:m Claims:*core.ResourceClaim
core.SELinuxOptions User:s Role:s Type:s Level:s
core.ScaleIOPersistentVolumeSource Gateway:s System:s SecretRef:*core.SecretReference SSLEnabled=sslEnabled:b ProtectionDomain:s StoragePool:s StorageMode:s VolumeName:s FSType=fsType:s ReadOnly:b
core.ScaleIOVolumeSource Gateway:s System:s SecretRef:*core.LocalObjectReference SSLEnabled=sslEnabled:b ProtectionDomain:s StoragePool:s StorageMode:s VolumeName:s FSType=fsType:s ReadOnly:b
core.ScopeSelector MatchExpressions:*core.ScopedResourceSelectorRequirement
core.ScopedResourceSelectorRequirement ScopeName:s Operator:s Values
core.SeccompProfile Type:s LocalhostProfile
core.SecretEnvSource LocalObjectReference:&core.LocalObjectReference Optional
core.SecretKeySelector LocalObjectReference:&core.LocalObjectReference Key:s Optional
core.SecretProjection LocalObjectReference:&core.LocalObjectReference Items:*core.KeyToPath Optional
core.SecretReference Name:s Namespace:s
core.SecretVolumeSource SecretName:s Items:*core.KeyToPath DefaultMode Optional
core.SecurityContext Capabilities:*core.Capabilities Privileged SELinuxOptions=seLinuxOptions:*core.SELinuxOptions WindowsOptions:*core.WindowsSecurityContextOptions RunAsUser RunAsGroup RunAsNonRoot ReadOnlyRootFilesystem AllowPrivilegeEscalation ProcMount SeccompProfile:*core.SeccompProfile AppArmorProfile:*core.AppArmorProfile
core.ServiceAccountTokenProjection Audience:s ExpirationSeconds:n Path:s
core.SleepAction Seconds:n
core.StorageOSPersistentVolumeSource VolumeName:s VolumeNamespace:s FSType=fsType:s ReadOnly:b SecretRef:*core.ObjectReference
core.StorageOSVolumeSource VolumeName:s VolumeNamespace:s FSType=fsType:s ReadOnly:b SecretRef:*core.LocalObjectReference
core.Sysctl Name:s Value:s
core.TCPSocketAction Port:n Host:s
core.Taint Key:s Value:s Effect:s TimeAdded
core.Toleration Key:s Operator:s Value:s Effect:s TolerationSeconds
core.TopologySpreadConstraint MaxSkew:n TopologyKey:s WhenUnsatisfiable:s LabelSelector:*metav1.LabelSelector MinDomains NodeAffinityPolicy NodeTaintsPolicy MatchLabelKeys
core.TypedLocalObjectReference APIGroup=apiGroup Kind:s Name:s
core.TypedObjectReference APIGroup=apiGroup Kind:s Name:s Namespace
core.Volume Name:s VolumeSource:&core.VolumeSource
core.VolumeDevice Name:s DevicePath:s
core.VolumeMount Name:s ReadOnly:b RecursiveReadOnly MountPath:s SubPath:s MountPropagation SubPathExpr:s
core.VolumeNodeAffinity Required:*core.NodeSelector
core.VolumeProjection Secret:*core.SecretProjection DownwardAPI:*core.DownwardAPIProjection ConfigMap:*core.ConfigMapProjection ServiceAccountToken:*core.ServiceAccountTokenProjection ClusterTrustBundle:*core.ClusterTrustBundleProjection PodCertificate:*core.PodCertificateProjection
core.VolumeResourceRequirements Limits:m Requests:m
core.VolumeSource HostPath:*core.HostPathVolumeSource EmptyDir:*core.EmptyDirVolumeSource GCEPersistentDisk=gcePersistentDisk:*core.GCEPersistentDiskVolumeSource AWSElasticBlockStore=awsElasticBlockStore:*core.AWSElasticBlockStoreVolumeSource GitRepo:*core.GitRepoVolumeSource Secret:*core.SecretVolumeSource NFS=nfs:*core.NFSVolumeSource ISCSI=iscsi:*core.ISCSIVolumeSource Glusterfs:*core.GlusterfsVolumeSource PersistentVolumeClaim:*core.PersistentVolumeClaimVolumeSource RBD=rbd:*core.RBDVolumeSource Quobyte:*core.QuobyteVolumeSource FlexVolume:*core.FlexVolumeSource Cinder:*core.CinderVolumeSource CephFS=cephfs:*core.CephFSVolumeSource Flocker:*core.FlockerVolumeSource DownwardAPI:*core.DownwardAPIVolumeSource FC=fc:*core.FCVolumeSource AzureFile:*core.AzureFileVolumeSource ConfigMap:*core.ConfigMapVolumeSource VsphereVolume:*core.VsphereVirtualDiskVolumeSource AzureDisk:*core.AzureDiskVolumeSource PhotonPersistentDisk:*core.PhotonPersistentDiskVolumeSource Projected:*core.ProjectedVolumeSource PortworxVolume:*core.PortworxVolumeSource ScaleIO:*core.ScaleIOVolumeSource StorageOS=storageos:*core.StorageOSVolumeSource CSI=csi:*core.CSIVolumeSource Ephemeral:*core.EphemeralVolumeSource Image:*core.ImageVolumeSource
core.VsphereVirtualDiskVolumeSource VolumePath:s FSType=fsType:s StoragePolicyName:s StoragePolicyID:s
core.WeightedPodAffinityTerm Weight:n PodAffinityTerm:core.PodAffinityTerm
core.WindowsSecurityContextOptions GMSACredentialSpecName=gmsaCredentialSpecName GMSACredentialSpec=gmsaCredentialSpec RunAsUserName HostProcess
flowcontrol.ExemptPriorityLevelConfiguration NominalConcurrencyShares LendablePercent
flowcontrol.FlowDistinguisherMethod Type:s
flowcontrol.FlowSchemaSpec PriorityLevelConfiguration:flowcontrol.PriorityLevelConfigurationReference MatchingPrecedence:n DistinguisherMethod:*flowcontrol.FlowDistinguisherMethod Rules:*flowcontrol.PolicyRulesWithSubjects
flowcontrol.GroupSubject Name:s
flowcontrol.LimitResponse Type:s Queuing:*flowcontrol.QueuingConfiguration
flowcontrol.LimitedPriorityLevelConfiguration NominalConcurrencyShares:n LimitResponse:flowcontrol.LimitResponse LendablePercent BorrowingLimitPercent
flowcontrol.NonResourcePolicyRule Verbs NonResourceURLs
flowcontrol.PolicyRulesWithSubjects Subjects:*flowcontrol.Subject ResourceRules:*flowcontrol.ResourcePolicyRule NonResourceRules:*flowcontrol.NonResourcePolicyRule
flowcontrol.PriorityLevelConfigurationReference Name:s
flowcontrol.PriorityLevelConfigurationSpec Type:s Limited:*flowcontrol.LimitedPriorityLevelConfiguration Exempt:*flowcontrol.ExemptPriorityLevelConfiguration
flowcontrol.QueuingConfiguration Queues:n HandSize:n QueueLengthLimit:n
flowcontrol.ResourcePolicyRule Verbs APIGroups=apiGroups Resources ClusterScope:b Namespaces
flowcontrol.ServiceAccountSubject Namespace:s Name:s
flowcontrol.Subject Kind:s User:*flowcontrol.UserSubject Group:*flowcontrol.GroupSubject ServiceAccount:*flowcontrol.ServiceAccountSubject
flowcontrol.UserSubject Name:s
metav1.LabelSelector matchLabels?:m matchExpressions?:*metav1.LabelSelectorRequirement
metav1.LabelSelectorRequirement key:s operator:s values?
metav1.ManagedFieldsEntry manager?:s operation?:s apiVersion?:s time? fieldsType?:s fieldsV1? subresource?:s
metav1.ObjectMeta name?:s generateName?:s namespace?:s selfLink?:s uid?:s resourceVersion?:s generation?:n creationTimestamp? deletionTimestamp? deletionGracePeriodSeconds? labels?:m annotations?:m ownerReferences?:*metav1.OwnerReference finalizers? managedFields?:*metav1.ManagedFieldsEntry
metav1.OwnerReference apiVersion:s kind:s name:s uid:s controller? blockOwnerDeletion?
resource.AllocationResult Devices:resource.DeviceAllocationResult NodeSelector:*core.NodeSelector AllocationTimestamp
resource.CELDeviceSelector Expression:s
resource.CapacityRequirements Requests:m
resource.DeviceAllocationConfiguration Source:s Requests DeviceConfiguration:&resource.DeviceConfiguration
resource.DeviceAllocationResult Results:*resource.DeviceRequestAllocationResult Config:*resource.DeviceAllocationConfiguration
resource.DeviceAttribute IntValue=int BoolValue=bool StringValue=string VersionValue=version IntValues=ints BoolValues=bools StringValues=strings VersionValues=versions
resource.DeviceClaim Requests:*resource.DeviceRequest Constraints:*resource.DeviceConstraint Config:*resource.DeviceClaimConfiguration
resource.DeviceClaimConfiguration Requests DeviceConfiguration:&resource.DeviceConfiguration
resource.DeviceConfiguration Opaque:*resource.OpaqueDeviceConfiguration
resource.DeviceConstraint Requests MatchAttribute DistinctAttribute
resource.DeviceRequest Name:s Exactly:*resource.ExactDeviceRequest FirstAvailable:*resource.DeviceSubRequest
resource.DeviceRequestAllocationResult Request:s Driver:s Pool:s Device:s AdminAccess Tolerations:*resource.DeviceToleration BindingConditions BindingFailureConditions ShareID ConsumedCapacity:m
resource.DeviceSelector CEL=cel:*resource.CELDeviceSelector
resource.DeviceSubRequest Name:s DeviceClassName:s Selectors:*resource.DeviceSelector AllocationMode:s Count:n Tolerations:*resource.DeviceToleration Capacity:*resource.CapacityRequirements
resource.DeviceToleration Key:s Operator:s Value:s Effect:s TolerationSeconds
resource.ExactDeviceRequest DeviceClassName:s Selectors:*resource.DeviceSelector AllocationMode:s Count:n AdminAccess Tolerations:*resource.DeviceToleration Capacity:*resource.CapacityRequirements
resource.OpaqueDeviceConfiguration Driver:s Parameters
resource.ResourceClaimSpec Devices:resource.DeviceClaim
resource.ResourceClaimTemplateSpec ObjectMeta:&metav1.ObjectMeta Spec:resource.ResourceClaimSpec
storage.CSINodeDriver Name:s NodeID:s TopologyKeys Allocatable:*storage.VolumeNodeResources
storage.VolumeAttachmentSource PersistentVolumeName InlineVolumeSpec:*core.PersistentVolumeSpec
storage.VolumeAttachmentSpec Attacher:s Source:storage.VolumeAttachmentSource NodeName:s
storage.VolumeNodeResources Count
`
