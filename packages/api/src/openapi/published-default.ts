import { isHeldByValue } from '../go-structs/declared-fields.ts'
import { isWrittenZero, zeroOf } from '../schema/go/go-types.ts'
import { resolveSchema } from '../schema/resolve.ts'
import type { ObjectSchema } from '../schema/schema.ts'

/**
 * The default of a field of a built-in kind as upstream's documents have it; undefined where they state none. They come from Go's types: an
 * empty object for a struct that is always there, the zero of what has no omitempty, and what a marker of the field says. What a
 * server fills in otherwise is code upstream, and not in its documents. `test/openapi-defaults.test.ts` compares them.
 */
export function publishedDefault(owner: ObjectSchema, name: string): unknown {
  const field = owner.fields[name]
  if (field === undefined) return undefined
  const path = `${owner.name.slice(owner.name.lastIndexOf('.') + 1)}.${name}`
  if (marked.has(path)) return field.default ?? zeroOf(field.schema)
  if (withoutOmitempty.has(path)) return zeroOf(field.schema)
  const { type } = resolveSchema(field.schema)
  if (type === 'object') return isHeldByValue(owner, name) ? {} : undefined
  if (type === 'bytes' || withOmitempty.has(path)) return undefined
  return isWrittenZero(field) ? zeroOf(field.schema) : undefined
}

const fieldsOf = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** Fields whose defaults upstream's types state in a marker (`+default=`). */
const marked = fieldsOf(`
  AzureDiskVolumeSource.cachingMode AzureDiskVolumeSource.fsType AzureDiskVolumeSource.kind AzureDiskVolumeSource.readOnly
  ConfigMapEnvSource.name ConfigMapKeySelector.name ConfigMapProjection.name ConfigMapVolumeSource.name
  ContainerPort.protocol DeviceToleration.operator FileKeySelector.optional GRPCAction.service
  ISCSIPersistentVolumeSource.iscsiInterface ISCSIVolumeSource.iscsiInterface LocalObjectReference.name
  RBDPersistentVolumeSource.keyring RBDPersistentVolumeSource.pool RBDPersistentVolumeSource.user
  RBDVolumeSource.keyring RBDVolumeSource.pool RBDVolumeSource.user
  ReplicationControllerSpec.minReadySeconds ReplicationControllerSpec.replicas
  ScaleIOPersistentVolumeSource.fsType ScaleIOPersistentVolumeSource.storageMode
  ScaleIOVolumeSource.fsType ScaleIOVolumeSource.storageMode
  SecretEnvSource.name SecretKeySelector.name SecretProjection.name ServicePort.protocol
`)

/** Fields that a server fills in, and that Go's JSON writes where they are empty. */
const withoutOmitempty = fieldsOf('PodFailurePolicyOnPodConditionsPattern.status RoleRef.apiGroup')

/** Fields that must be there, and that Go's JSON omits where they are empty. */
const withOmitempty = fieldsOf(`
  ContainerRestartRule.action ContainerRestartRuleOnExitCodes.operator ImageVolumeStatus.imageRef
  ParentReference.name ParentReference.resource PodCertificateProjection.keyType PodCertificateProjection.signerName
  ValidatingAdmissionPolicyBindingSpec.policyName
`)
