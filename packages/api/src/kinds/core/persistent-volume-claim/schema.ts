import { kindSchema } from '../../../meta.ts'
import {
  atomicList,
  literal,
  mapList,
  mapOf,
  object,
  optional,
  required,
  string,
  time,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { conditionOf } from '../../meta/condition.ts'
import { coreV1 } from '../../meta/names.ts'
import { resourceList } from '../common.ts'
import { persistentVolumeClaimSpec } from '../pod/volume.ts'

export interface PersistentVolumeClaimCondition extends Infer<typeof persistentVolumeClaimCondition> {}
export const persistentVolumeClaimCondition = conditionOf(
  `${coreV1}.PersistentVolumeClaimCondition`,
  'One aspect of how a claim is doing.',
  'What it is about, such as Resizing or FileSystemResizePending.',
  { lastProbeTime: optional(time, 'When it was last looked at.') },
)

export interface ModifyVolumeStatus extends Infer<typeof modifyVolumeStatus> {}
export const modifyVolumeStatus = object(
  `${coreV1}.ModifyVolumeStatus`,
  'How far the change of the volume to another attributes class has come.',
  {
    targetVolumeAttributesClassName: optional(string(), 'The class that the volume is to have.'),
    status: required(string(), 'Pending, InProgress or Infeasible.', { default: '' }),
  },
)

export interface PersistentVolumeClaimStatus extends Infer<typeof persistentVolumeClaimStatus> {}
export const persistentVolumeClaimStatus = object(`${coreV1}.PersistentVolumeClaimStatus`, 'What the claim has got.', {
  phase: optional(literal<'Pending' | 'Bound' | 'Lost'>(), 'Pending, Bound to a volume, or Lost with it.', {
    default: 'Pending',
  }),
  accessModes: optional(atomicList(string()), 'How the volume may be accessed.'),
  capacity: optional(resourceList, 'How large the volume is.'),
  conditions: optional(mapList(persistentVolumeClaimCondition, ['type']), 'What else there is to say, by type.'),
  allocatedResources: optional(resourceList, 'How much is set aside for the claim, while it grows.'),
  allocatedResourceStatuses: optional(
    mapOf(string(), { mapType: 'granular' }),
    'How far the growing of each resource has come.',
  ),
  currentVolumeAttributesClassName: optional(string(), 'The attributes class that the volume has.'),
  modifyVolumeStatus: optional(modifyVolumeStatus, 'How far the change to another attributes class has come.'),
})

/** Asks for storage, and stands for it once it is there. */
export interface PersistentVolumeClaim extends Infer<typeof persistentVolumeClaimSchema> {}
export const persistentVolumeClaimSchema = kindSchema(
  `${coreV1}.PersistentVolumeClaim`,
  'Asks for storage, and is how pods mount it once it is there.',
  {
    spec: optional(persistentVolumeClaimSpec, 'What storage is asked for.', { default: {} }),
    status: optional(persistentVolumeClaimStatus, 'What the claim has got. Only read.', { default: {} }),
  },
)
