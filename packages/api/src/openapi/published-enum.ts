import { keyUsages } from '../kinds/certificates/certificate-signing-request-validation.ts'
import { linuxSignals } from '../kinds/core/pod/linux-signals.ts'
import type { ObjectSchema } from '../schema/schema.ts'

/**
 * The values that upstream's documents list for a field of a built-in kind, or for the items of its list or map, where they are others than
 * those its schema has: null where they list none, undefined where the schema says it all. Upstream lists what Go's types mark as an
 * enumeration (`+enum`), and judges by code. `test/openapi-enums.test.ts` compares them.
 */
export function publishedEnum(owner: ObjectSchema, name: string): readonly string[] | null | undefined {
  const field = `${owner.name.slice(owner.name.lastIndexOf('.') + 1)}.${name}`
  return unlisted.has(field) ? null : listed.get(field)
}

/** Fields whose values the server judges, and whose types upstream marks as no enumerations. */
const unlisted: ReadonlySet<string> = new Set([
  'LoadBalancerIngress.ipMode',
  'PodOS.name',
  'PodSecurityContext.seLinuxChangePolicy',
  'ServiceSpec.trafficDistribution',
  'StatefulSetPersistentVolumeClaimRetentionPolicy.whenDeleted',
  'StatefulSetPersistentVolumeClaimRetentionPolicy.whenScaled',
  'Validation.reason',
  'VolumeMount.recursiveReadOnly',
])

const listed: ReadonlyMap<string, readonly string[]> = new Map(
  (
    [
      [['Localhost', 'RuntimeDefault', 'Unconfined'], 'AppArmorProfile.type SeccompProfile.type'],
      [keyUsages, 'CertificateSigningRequestSpec.usages'],
      [linuxSignals(), 'ContainerStatus.stopSignal Lifecycle.stopSignal'],
      [['OnDelete', 'RollingUpdate'], 'DaemonSetUpdateStrategy.type StatefulSetUpdateStrategy.type'],
      [['Recreate', 'RollingUpdate'], 'DeploymentStrategy.type'],
      [['Exact', 'ImplementationSpecific', 'Prefix'], 'HTTPIngressPath.pathType'],
      [['Indexed', 'NonIndexed'], 'JobSpec.completionMode'],
      [['Failed', 'TerminatingOrFailed'], 'JobSpec.podReplacementPolicy'],
      [['InProgress', 'Infeasible', 'Pending'], 'ModifyVolumeStatus.status'],
      [['IfNeeded', 'Never'], 'MutatingAdmissionPolicySpec.reinvocationPolicy'],
      [['None', 'NoneOnDryRun', 'Some', 'Unknown'], 'MutatingWebhook.sideEffects ValidatingWebhook.sideEffects'],
      [['ApplyConfiguration', 'JSONPatch'], 'Mutation.patchType'],
      [
        ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'],
        'NamedRuleWithOperations.operations RuleWithOperations.operations',
      ],
      [['*', 'Cluster', 'Namespaced'], 'NamedRuleWithOperations.scope RuleWithOperations.scope'],
      [['Active', 'Terminating'], 'NamespaceStatus.phase'],
      [['Egress', 'Ingress'], 'NetworkPolicySpec.policyTypes'],
      [['DoesNotExist', 'Exists', 'Gt', 'In', 'Lt', 'NotIn'], 'NodeSelectorRequirement.operator'],
      [['Pending', 'Running', 'Terminated'], 'NodeStatus.phase'],
      [
        ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'],
        'PersistentVolumeClaimSpec.accessModes PersistentVolumeClaimStatus.accessModes PersistentVolumeSpec.accessModes',
      ],
      [['Block', 'Filesystem'], 'PersistentVolumeClaimSpec.volumeMode PersistentVolumeSpec.volumeMode'],
      [
        [
          'ControllerResizeInProgress',
          'ControllerResizeInfeasible',
          'NodeResizeInProgress',
          'NodeResizeInfeasible',
          'NodeResizePending',
        ],
        'PersistentVolumeClaimStatus.allocatedResourceStatuses',
      ],
      [['Bound', 'Lost', 'Pending'], 'PersistentVolumeClaimStatus.phase'],
      [
        ['Delete', 'Recycle', 'Retain'],
        'PersistentVolumeSpec.persistentVolumeReclaimPolicy StorageClass.reclaimPolicy',
      ],
      [['Available', 'Bound', 'Failed', 'Pending', 'Released'], 'PersistentVolumeStatus.phase'],
      [['In', 'NotIn'], 'PodFailurePolicyOnExitCodesRequirement.operator'],
      [['Count', 'FailIndex', 'FailJob', 'Ignore'], 'PodFailurePolicyRule.action'],
      [['Never', 'PreemptLowerPriority'], 'PodSpec.preemptionPolicy PriorityClass.preemptionPolicy'],
      [['Failed', 'Pending', 'Running', 'Succeeded', 'Unknown'], 'PodStatus.phase'],
      [['BestEffort', 'Burstable', 'Guaranteed'], 'PodStatus.qosClass'],
      [['SCTP', 'TCP', 'UDP'], 'IngressPortStatus.protocol NetworkPolicyPort.protocol PortStatus.protocol'],
      [
        [
          'BestEffort',
          'CrossNamespacePodAffinity',
          'NotBestEffort',
          'NotTerminating',
          'PriorityClass',
          'Terminating',
          'VolumeAttributesClass',
        ],
        'ResourceQuotaSpec.scopes ScopedResourceSelectorRequirement.scopeName',
      ],
      [['DoesNotExist', 'Exists', 'In', 'NotIn'], 'ScopedResourceSelectorRequirement.operator'],
      [['', 'IPv4', 'IPv6'], 'ServiceSpec.ipFamilies'],
      [['OrderedReady', 'Parallel'], 'StatefulSetSpec.podManagementPolicy'],
      [['Immediate', 'WaitForFirstConsumer'], 'StorageClass.volumeBindingMode'],
      [['FromClaim', 'FromClass'], 'DeviceAllocationConfiguration.source'],
      [['All', 'ExactCount'], 'DeviceSubRequest.allocationMode ExactDeviceRequest.allocationMode'],
      [['NoExecute', 'NoSchedule', 'None'], 'DeviceTaint.effect DeviceToleration.effect'],
      [['Equal', 'Exists'], 'DeviceToleration.operator'],
      [['NoExecute', 'NoSchedule', 'PreferNoSchedule'], 'Taint.effect Toleration.effect'],
      [['Equal', 'Exists', 'Gt', 'Lt'], 'Toleration.operator'],
      [['DoNotSchedule', 'ScheduleAnyway'], 'TopologySpreadConstraint.whenUnsatisfiable'],
      [['Audit', 'Deny', 'Warn'], 'ValidatingAdmissionPolicyBindingSpec.validationActions'],
      [
        ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'],
        'ValidationRule.reason',
      ],
      [['Bidirectional', 'HostToContainer', 'None'], 'VolumeMount.mountPropagation'],
    ] satisfies readonly (readonly [values: readonly string[], fields: string])[]
  ).flatMap(([values, fields]) => fields.split(' ').map((field) => [field, values] as const)),
)
