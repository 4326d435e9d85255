/** Written by `../../test/data/extract-go-types.ts` from the types of Kubernetes 1.36: not to be changed by hand. */

/** What lists and maps with a name of their own are. */
export const composites = `
v1.ExtraValue []string
v1.JSONSchemaDefinitions map[string]v1.JSONSchemaProps
v1.JSONSchemaDependencies map[string]v1.JSONSchemaPropsOrStringArray
v1.ResourceList map[v1.ResourceName]resource.Quantity
v1.ValidationRules []v1.ValidationRule
v1.Verbs []string
v1beta1.ExtraValue []string
v1beta1.JSONSchemaDefinitions map[string]v1beta1.JSONSchemaProps
v1beta1.JSONSchemaDependencies map[string]v1beta1.JSONSchemaPropsOrStringArray
v1beta1.ValidationRules []v1beta1.ValidationRule
`

/**
 * Packages, and of their structs the fields of which the schema does not tell all: `v1.PullPolicy(imagePullPolicy)` has a type that is
 * not the schema's, and `VolumeSource.(hostPath)` stands in a struct that this one has in itself.
 */
export const fields = `
io.k8s.api.admissionregistration.v1
 MatchResources v1.MatchPolicyType(matchPolicy)
 MutatingAdmissionPolicySpec v1.FailurePolicyType(failurePolicy) v1.ReinvocationPolicyType(reinvocationPolicy)
 MutatingWebhook v1.FailurePolicyType(failurePolicy) v1.MatchPolicyType(matchPolicy) v1.SideEffectClass(sideEffects) v1.ReinvocationPolicyType(reinvocationPolicy)
 Mutation v1.PatchType(patchType)
 NamedRuleWithOperations RuleWithOperations.[]v1.OperationType(operations) RuleWithOperations.Rule.(apiGroups apiVersions resources) RuleWithOperations.Rule.v1.ScopeType(scope)
 ParamRef v1.ParameterNotFoundActionType(parameterNotFoundAction)
 RuleWithOperations []v1.OperationType(operations) Rule.(apiGroups apiVersions resources) Rule.v1.ScopeType(scope)
 ValidatingAdmissionPolicyBindingSpec []v1.ValidationAction(validationActions)
 ValidatingAdmissionPolicySpec v1.FailurePolicyType(failurePolicy)
 ValidatingWebhook v1.FailurePolicyType(failurePolicy) v1.MatchPolicyType(matchPolicy) v1.SideEffectClass(sideEffects)
 Validation v1.StatusReason(reason)
io.k8s.api.apps.v1
 DaemonSetCondition v1.DaemonSetConditionType(type) v1.ConditionStatus(status)
 DaemonSetUpdateStrategy v1.DaemonSetUpdateStrategyType(type)
 DeploymentCondition v1.DeploymentConditionType(type) v1.ConditionStatus(status)
 DeploymentStrategy v1.DeploymentStrategyType(type)
 ReplicaSetCondition v1.ReplicaSetConditionType(type) v1.ConditionStatus(status)
 StatefulSetCondition v1.StatefulSetConditionType(type) v1.ConditionStatus(status)
 StatefulSetPersistentVolumeClaimRetentionPolicy v1.PersistentVolumeClaimRetentionPolicyType(whenDeleted whenScaled)
 StatefulSetSpec v1.PodManagementPolicyType(podManagementPolicy)
 StatefulSetUpdateStrategy v1.StatefulSetUpdateStrategyType(type)
io.k8s.api.authentication.v1
 BoundObjectReference types.UID(uid)
 TokenRequest TypeMeta.(kind apiVersion)
 UserInfo map[string]v1.ExtraValue(extra)
io.k8s.api.authorization.v1
 SubjectAccessReviewSpec map[string]v1.ExtraValue(extra)
io.k8s.api.autoscaling.v2
 ContainerResourceMetricSource v1.ResourceName(name)
 ContainerResourceMetricStatus v1.ResourceName(name)
 HPAScalingPolicy v2.HPAScalingPolicyType(type)
 HPAScalingRules v2.ScalingPolicySelect(selectPolicy)
 HorizontalPodAutoscalerCondition v2.HorizontalPodAutoscalerConditionType(type) v1.ConditionStatus(status)
 MetricSpec v2.MetricSourceType(type)
 MetricStatus v2.MetricSourceType(type)
 MetricTarget v2.MetricTargetType(type)
 ResourceMetricSource v1.ResourceName(name)
 ResourceMetricStatus v1.ResourceName(name)
io.k8s.api.batch.v1
 CronJobSpec v1.ConcurrencyPolicy(concurrencyPolicy)
 JobCondition v1.JobConditionType(type) v1.ConditionStatus(status)
 JobSpec v1.CompletionMode(completionMode) v1.PodReplacementPolicy(podReplacementPolicy)
 PodFailurePolicyOnExitCodesRequirement v1.PodFailurePolicyOnExitCodesOperator(operator)
 PodFailurePolicyOnPodConditionsPattern v1.PodConditionType(type) v1.ConditionStatus(status)
 PodFailurePolicyRule v1.PodFailurePolicyAction(action)
 UncountedTerminatedPods []types.UID(succeeded failed)
io.k8s.api.certificates.v1
 CertificateSigningRequestCondition v1.RequestConditionType(type) v1.ConditionStatus(status)
 CertificateSigningRequestSpec []v1.KeyUsage(usages) map[string]v1.ExtraValue(extra)
io.k8s.api.coordination.v1
 LeaseSpec v1.CoordinatedLeaseStrategy(strategy)
io.k8s.api.core.v1
 AppArmorProfile v1.AppArmorProfileType(type)
 AttachedVolume v1.UniqueVolumeName(name)
 AzureDiskVolumeSource v1.AzureDataDiskCachingMode(cachingMode) v1.AzureDataDiskKind(kind)
 Capabilities []v1.Capability(add drop)
 ComponentCondition v1.ComponentConditionType(type) v1.ConditionStatus(status)
 ConfigMapEnvSource LocalObjectReference.(name)
 ConfigMapKeySelector LocalObjectReference.(name)
 ConfigMapNodeConfigSource types.UID(uid)
 ConfigMapProjection LocalObjectReference.(name)
 ConfigMapVolumeSource LocalObjectReference.(name)
 Container v1.ContainerRestartPolicy(restartPolicy) v1.TerminationMessagePolicy(terminationMessagePolicy) v1.PullPolicy(imagePullPolicy)
 ContainerPort v1.Protocol(protocol)
 ContainerResizePolicy v1.ResourceName(resourceName) v1.ResourceResizeRestartPolicy(restartPolicy)
 ContainerRestartRule v1.ContainerRestartRuleAction(action)
 ContainerRestartRuleOnExitCodes v1.ContainerRestartRuleOnExitCodesOperator(operator)
 ContainerStatus v1.ResourceList(allocatedResources) v1.Signal(stopSignal)
 EmptyDirVolumeSource v1.StorageMedium(medium)
 EndpointPort v1.Protocol(protocol)
 EphemeralContainer EphemeralContainerCommon.(name image command args workingDir ports envFrom env resources resizePolicy restartPolicyRules volumeMounts volumeDevices livenessProbe readinessProbe startupProbe lifecycle terminationMessagePath securityContext stdin stdinOnce tty) EphemeralContainerCommon.v1.ContainerRestartPolicy(restartPolicy) EphemeralContainerCommon.v1.TerminationMessagePolicy(terminationMessagePolicy) EphemeralContainerCommon.v1.PullPolicy(imagePullPolicy)
 HTTPGetAction v1.URIScheme(scheme)
 HostPathVolumeSource v1.HostPathType(type)
 ImageVolumeSource v1.PullPolicy(pullPolicy)
 Lifecycle v1.Signal(stopSignal)
 LimitRangeItem v1.LimitType(type) v1.ResourceList(max min default defaultRequest maxLimitRequestRatio)
 LoadBalancerIngress v1.LoadBalancerIPMode(ipMode)
 ModifyVolumeStatus v1.PersistentVolumeClaimModifyVolumeStatus(status)
 NamespaceCondition v1.NamespaceConditionType(type) v1.ConditionStatus(status)
 NamespaceSpec []v1.FinalizerName(finalizers)
 NamespaceStatus v1.NamespacePhase(phase)
 NodeAddress v1.NodeAddressType(type)
 NodeAllocatableResourceClaimStatus map[v1.ResourceName]resource.Quantity(resources)
 NodeCondition v1.NodeConditionType(type) v1.ConditionStatus(status)
 NodeSelectorRequirement v1.NodeSelectorOperator(operator)
 NodeStatus v1.ResourceList(capacity allocatable) v1.NodePhase(phase) []v1.UniqueVolumeName(volumesInUse)
 ObjectReference types.UID(uid)
 PersistentVolumeClaim TypeMeta.(kind apiVersion)
 PersistentVolumeClaimCondition v1.PersistentVolumeClaimConditionType(type) v1.ConditionStatus(status)
 PersistentVolumeClaimSpec []v1.PersistentVolumeAccessMode(accessModes) v1.PersistentVolumeMode(volumeMode)
 PersistentVolumeClaimStatus v1.PersistentVolumeClaimPhase(phase) []v1.PersistentVolumeAccessMode(accessModes) v1.ResourceList(capacity allocatedResources) map[v1.ResourceName]v1.ClaimResourceStatus(allocatedResourceStatuses)
 PersistentVolumeSpec v1.ResourceList(capacity) PersistentVolumeSource.(gcePersistentDisk awsElasticBlockStore hostPath glusterfs nfs rbd iscsi cinder cephfs fc flocker flexVolume azureFile vsphereVolume quobyte azureDisk photonPersistentDisk portworxVolume scaleIO local storageos csi) []v1.PersistentVolumeAccessMode(accessModes) v1.PersistentVolumeReclaimPolicy(persistentVolumeReclaimPolicy) v1.PersistentVolumeMode(volumeMode)
 PersistentVolumeStatus v1.PersistentVolumePhase(phase)
 PodCondition v1.PodConditionType(type) v1.ConditionStatus(status)
 PodOS v1.OSName(name)
 PodReadinessGate v1.PodConditionType(conditionType)
 PodSecurityContext v1.SupplementalGroupsPolicy(supplementalGroupsPolicy) v1.PodFSGroupChangePolicy(fsGroupChangePolicy) v1.PodSELinuxChangePolicy(seLinuxChangePolicy)
 PodSpec v1.RestartPolicy(restartPolicy) v1.DNSPolicy(dnsPolicy) v1.PreemptionPolicy(preemptionPolicy) v1.ResourceList(overhead)
 PodStatus v1.PodPhase(phase) v1.PodQOSClass(qosClass) v1.PodResizeStatus(resize) v1.ResourceList(allocatedResources)
 PortStatus v1.Protocol(protocol)
 Probe ProbeHandler.(exec httpGet tcpSocket grpc)
 ReplicationControllerCondition v1.ReplicationControllerConditionType(type) v1.ConditionStatus(status)
 ResourceHealth v1.ResourceID(resourceID) v1.ResourceHealthStatus(health)
 ResourceQuotaSpec v1.ResourceList(hard) []v1.ResourceQuotaScope(scopes)
 ResourceQuotaStatus v1.ResourceList(hard used)
 ResourceRequirements v1.ResourceList(limits requests)
 ResourceStatus v1.ResourceName(name)
 ScopedResourceSelectorRequirement v1.ResourceQuotaScope(scopeName) v1.ScopeSelectorOperator(operator)
 SeccompProfile v1.SeccompProfileType(type)
 Secret v1.SecretType(type)
 SecretEnvSource LocalObjectReference.(name)
 SecretKeySelector LocalObjectReference.(name)
 SecretProjection LocalObjectReference.(name)
 SecurityContext v1.ProcMountType(procMount)
 ServicePort v1.Protocol(protocol)
 ServiceSpec v1.ServiceType(type) v1.ServiceAffinity(sessionAffinity) v1.ServiceExternalTrafficPolicy(externalTrafficPolicy) []v1.IPFamily(ipFamilies) v1.IPFamilyPolicy(ipFamilyPolicy) v1.ServiceInternalTrafficPolicy(internalTrafficPolicy)
 Taint v1.TaintEffect(effect)
 Toleration v1.TolerationOperator(operator) v1.TaintEffect(effect)
 TopologySpreadConstraint v1.UnsatisfiableConstraintAction(whenUnsatisfiable) v1.NodeInclusionPolicy(nodeAffinityPolicy nodeTaintsPolicy)
 Volume VolumeSource.(hostPath emptyDir gcePersistentDisk awsElasticBlockStore gitRepo secret nfs iscsi glusterfs persistentVolumeClaim rbd flexVolume cinder cephfs flocker downwardAPI fc azureFile configMap vsphereVolume quobyte azureDisk photonPersistentDisk projected portworxVolume scaleIO storageos csi ephemeral image)
 VolumeMount v1.RecursiveReadOnlyMode(recursiveReadOnly) v1.MountPropagationMode(mountPropagation)
 VolumeMountStatus v1.RecursiveReadOnlyMode(recursiveReadOnly)
 VolumeResourceRequirements v1.ResourceList(limits requests)
io.k8s.api.discovery.v1
 EndpointPort v1.Protocol(protocol)
 EndpointSlice v1.AddressType(addressType)
io.k8s.api.flowcontrol.v1
 FlowDistinguisherMethod v1.FlowDistinguisherMethodType(type)
 FlowSchemaCondition v1.FlowSchemaConditionType(type) v1.ConditionStatus(status)
 LimitResponse v1.LimitResponseType(type)
 PriorityLevelConfigurationCondition v1.PriorityLevelConfigurationConditionType(type) v1.ConditionStatus(status)
 PriorityLevelConfigurationSpec v1.PriorityLevelEnablement(type)
 Subject v1.SubjectKind(kind)
io.k8s.api.networking.v1
 HTTPIngressPath v1.PathType(pathType)
 IngressPortStatus v1.Protocol(protocol)
 IngressRule IngressRuleValue.(http)
 NetworkPolicyPort v1.Protocol(protocol)
 NetworkPolicySpec []v1.PolicyType(policyTypes)
io.k8s.api.node.v1
 Overhead v1.ResourceList(podFixed)
io.k8s.api.policy.v1
 PodDisruptionBudgetSpec v1.UnhealthyPodEvictionPolicyType(unhealthyPodEvictionPolicy)
io.k8s.api.resource.v1
 CapacityRequirements map[v1.QualifiedName]resource.Quantity(requests)
 Device map[v1.QualifiedName]v1.DeviceAttribute(attributes) map[v1.QualifiedName]v1.DeviceCapacity(capacity) map[v1.ResourceName]v1.NodeAllocatableResourceMapping(nodeAllocatableResourceMappings)
 DeviceAllocationConfiguration v1.AllocationConfigSource(source) DeviceConfiguration.(opaque)
 DeviceClaimConfiguration DeviceConfiguration.(opaque)
 DeviceClassConfiguration DeviceConfiguration.(opaque)
 DeviceConstraint v1.FullyQualifiedName(matchAttribute distinctAttribute)
 DeviceRequestAllocationResult types.UID(shareID) map[v1.QualifiedName]resource.Quantity(consumedCapacity)
 DeviceSubRequest v1.DeviceAllocationMode(allocationMode)
 DeviceTaint v1.DeviceTaintEffect(effect)
 DeviceToleration v1.DeviceTolerationOperator(operator) v1.DeviceTaintEffect(effect)
 ExactDeviceRequest v1.DeviceAllocationMode(allocationMode)
 NodeAllocatableResourceMapping v1.QualifiedName(capacityKey)
 ResourceClaim TypeMeta.(kind apiVersion)
 ResourceClaimConsumerReference types.UID(uid)
io.k8s.api.scheduling.v1
 PriorityClass v1.PreemptionPolicy(preemptionPolicy)
io.k8s.api.storage.v1
 CSIDriverSpec []v1.VolumeLifecycleMode(volumeLifecycleModes) v1.FSGroupPolicy(fsGroupPolicy)
 StorageClass v1.PersistentVolumeReclaimPolicy(reclaimPolicy) v1.VolumeBindingMode(volumeBindingMode)
io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1
 CustomResourceConversion v1.ConversionStrategyType(strategy)
 CustomResourceDefinitionCondition v1.CustomResourceDefinitionConditionType(type) v1.ConditionStatus(status)
 CustomResourceDefinitionSpec v1.ResourceScope(scope)
 JSONSchemaProps v1.JSONSchemaURL($schema) v1.JSONSchemaDependencies(dependencies) v1.JSONSchemaDefinitions(definitions) v1.ValidationRules(x-kubernetes-validations)
 ValidationRule v1.FieldValueErrorReason(reason)
io.k8s.apimachinery.pkg.apis.meta.v1
 Condition v1.ConditionStatus(status)
 DeleteOptions TypeMeta.(kind apiVersion) v1.DeletionPropagation(propagationPolicy)
 FieldSelectorRequirement v1.FieldSelectorOperator(operator)
 LabelSelectorRequirement v1.LabelSelectorOperator(operator)
 ManagedFieldsEntry v1.ManagedFieldsOperationType(operation)
 ObjectMeta types.UID(uid)
 OwnerReference types.UID(uid)
 Preconditions types.UID(uid)
 Status v1.StatusReason(reason)
 StatusCause v1.CauseType(reason)
 StatusDetails types.UID(uid)
io.k8s.kube-aggregator.pkg.apis.apiregistration.v1
 APIServiceCondition v1.APIServiceConditionType(type) v1.ConditionStatus(status)
`
