import { kindSchema } from '../../../meta.ts'
import {
  atomicList,
  literal,
  mapList,
  mapOf,
  object,
  optional,
  pointer,
  required,
  string,
  time,
} from '../../../schema/builders.ts'
import type { Infer } from '../../../schema/schema.ts'
import { conditionOf } from '../../meta/condition.ts'
import { coreV1 } from '../../meta/names.ts'
import { resourceList } from '../common.ts'
import type { AccessMode } from '../persistent-volume/schema.ts'
import { persistentVolumeClaimSpec } from '../pod/volume.ts'

export interface PersistentVolumeClaimCondition extends Infer<typeof persistentVolumeClaimCondition> {}
export const persistentVolumeClaimCondition = conditionOf(
  `${coreV1}.PersistentVolumeClaimCondition`,
  'One aspect of how a claim is doing.',
  'What it is about, such as Resizing or FileSystemResizePending.',
  { lastProbeTime: optional(time, 'When it was last looked at.', { byValue: true }) },
)

export interface ModifyVolumeStatus extends Infer<typeof modifyVolumeStatus> {}
export const modifyVolumeStatus = object(
  `${coreV1}.ModifyVolumeStatus`,
  'How a change of the attributes of a volume is going.',
  {
    targetVolumeAttributesClassName: optional(string(), 'The class that it is changed to.'),
    status: required(
      literal<'InProgress' | 'Infeasible' | 'Pending' | ''>(),
      'Pending where the class is not there, InProgress, or Infeasible where the driver refused.',
      { default: '' },
    ),
  },
)

export interface PersistentVolumeClaimStatus extends Infer<typeof persistentVolumeClaimStatus> {}
export const persistentVolumeClaimStatus = object(`${coreV1}.PersistentVolumeClaimStatus`, 'What a claim has got.', {
  phase: optional(
    literal<'Pending' | 'Bound' | 'Lost'>(),
    'Pending, Bound to a volume, or Lost, where its volume is gone.',
    { default: 'Pending' },
  ),
  accessModes: optional(atomicList(literal<AccessMode>()), 'How the volume may be used.'),
  capacity: optional(resourceList, 'How large the volume is.'),
  conditions: optional(
    mapList(persistentVolumeClaimCondition, ['type'], { duplicates: 'allowed' }),
    'What else there is to say, by type.',
  ),
  allocatedResources: optional(resourceList, 'How large the volume is being made.'),
  allocatedResourceStatuses: optional(
    mapOf(string(), { mapType: 'granular' }),
    'How the change of a size is going, by resource.',
  ),
  currentVolumeAttributesClassName: pointer(string(), 'The class of attributes that the volume has.'),
  modifyVolumeStatus: optional(modifyVolumeStatus, 'How a change of the attributes is going.'),
})

/** Somebody's request for storage, and hold on it. */
export interface PersistentVolumeClaim extends Infer<typeof persistentVolumeClaimSchema> {}
export const persistentVolumeClaimSchema = kindSchema(
  `${coreV1}.PersistentVolumeClaim`,
  'A request for storage, and a hold on the volume that meets it. Pods use the volume by way of the claim.',
  {
    spec: optional(persistentVolumeClaimSpec, 'What storage is asked for.', { default: {} }),
    status: optional(persistentVolumeClaimStatus, 'What the claim has got.', { default: {} }),
  },
)
