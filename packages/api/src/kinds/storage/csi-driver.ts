import { deepEqual } from '../../equality.ts'
import { duplicateField, type FieldError, invalidField, unsupportedField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { kindSchema } from '../../meta.ts'
import {
  atomicList,
  boolean,
  int64,
  literal,
  object,
  optional,
  pointer,
  required,
  setList,
  string,
} from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { ageColumn, column, joined, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { checkUnchanged } from '../validation.ts'
import { storageV1 } from './names.ts'

export interface CsiTokenRequest extends Infer<typeof csiTokenRequest> {}
export const csiTokenRequest = object(`${storageV1}.TokenRequest`, 'A token that a driver gets for a pod.', {
  audience: required(string(), 'Whom the token is for; empty is the API server.', { default: '' }),
  expirationSeconds: pointer(int64(), 'How long it is good for; an hour unless set.'),
})

export interface CsiDriverSpec extends Infer<typeof csiDriverSpec> {}
export const csiDriverSpec = object(`${storageV1}.CSIDriverSpec`, 'What a CSI driver can do and needs.', {
  attachRequired: pointer(
    boolean,
    'Whether volumes are attached to a node before they are mounted there. It cannot be changed.',
    { default: true },
  ),
  podInfoOnMount: pointer(boolean, 'Whether the driver is told the pod that a volume is mounted for.', {
    default: false,
  }),
  volumeLifecycleModes: optional(
    setList(literal<'Persistent' | 'Ephemeral'>(), { duplicates: 'allowed' }),
    'Whether its volumes are claimed (Persistent), written in pods (Ephemeral), or both. They cannot be changed.',
    { default: ['Persistent'] },
  ),
  storageCapacity: pointer(boolean, 'Whether pods are only placed where the driver says that there is room.', {
    default: false,
  }),
  fsGroupPolicy: pointer(
    literal<'ReadWriteOnceWithFSType' | 'File' | 'None'>(),
    'Whether files in a volume are given to the group of the pod.',
    { default: 'ReadWriteOnceWithFSType' },
  ),
  tokenRequests: optional(
    atomicList(csiTokenRequest),
    'Tokens of the pod’s service account that the driver gets when a volume is mounted.',
  ),
  requiresRepublish: pointer(boolean, 'Whether mounts are repeated now and then, for contents that change.', {
    default: false,
  }),
  seLinuxMount: pointer(boolean, 'Whether volumes may be mounted with an SELinux context.', { default: false }),
  nodeAllocatableUpdatePeriodSeconds: pointer(
    int64(),
    'How often a node asks the driver how many volumes fit there, in seconds. Only at its start unless set.',
  ),
  serviceAccountTokenInSecrets: pointer(
    boolean,
    'Whether tokens are handed over as secrets instead of among the attributes of the volume.',
  ),
  preventPodSchedulingIfMissing: pointer(boolean, 'Whether pods are kept off nodes that do not have the driver.'),
})

/** What the cluster must know of a CSI driver. Its name is the driver's. */
export interface CsiDriver extends Infer<typeof csiDriverSchema> {}
export const csiDriverSchema = kindSchema(
  `${storageV1}.CSIDriver`,
  'What the cluster must know of a CSI driver that is installed in it. The name is the driver’s.',
  { spec: required(csiDriverSpec, 'What the driver can do and needs.', { default: {} }) },
)

const specPath = FieldPath.of('spec')
const fsGroupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType']
const lifecycleModes: readonly string[] = ['Persistent', 'Ephemeral']
const updatePeriodSecondsMin = 10

function validate({ spec }: CsiDriver): readonly FieldError[] {
  const { fsGroupPolicy = '', nodeAllocatableUpdatePeriodSeconds: periodSeconds } = spec
  const errors: FieldError[] = []
  if (!fsGroupPolicies.includes(fsGroupPolicy)) {
    errors.push(unsupportedField(specPath.field('fsGroupPolicy'), fsGroupPolicy, fsGroupPolicies))
  }
  errors.push(...validateTokenRequests(spec.tokenRequests ?? [], specPath.field('tokenRequests')))
  for (const mode of spec.volumeLifecycleModes ?? []) {
    if (lifecycleModes.includes(mode)) continue
    errors.push(unsupportedField(specPath.field('volumeLifecycleModes'), mode, lifecycleModes))
  }
  if (periodSeconds !== undefined && periodSeconds < updatePeriodSecondsMin) {
    const path = specPath.field('nodeAllocatableUpdatePeriodSeconds')
    const why = `must be greater than or equal to ${updatePeriodSecondsMin} seconds`
    errors.push(invalidField(path, periodSeconds, why))
  }
  if (spec.serviceAccountTokenInSecrets !== undefined && (spec.tokenRequests ?? []).length === 0) {
    const why = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified'
    errors.push(invalidField(specPath.field('serviceAccountTokenInSecrets'), spec.serviceAccountTokenInSecrets, why))
  }
  return errors
}

const tokenSecondsMin = 600
const tokenSecondsMax = 2 ** 32

function validateTokenRequests(requests: readonly CsiTokenRequest[], path: FieldPath): FieldError[] {
  const seen = new Set<string>()
  return requests.flatMap(({ audience, expirationSeconds }, index) => {
    const at = path.index(index)
    if (seen.has(audience)) return [duplicateField(at.field('audience'), audience)]
    seen.add(audience)
    if (expirationSeconds === undefined) return []
    const invalid = (why: string) => [invalidField(at.field('expirationSeconds'), expirationSeconds, why)]
    if (expirationSeconds < tokenSecondsMin) return invalid('may not specify a duration less than 10 minutes')
    return expirationSeconds > tokenSecondsMax ? invalid('may not specify a duration larger than 2^32 seconds') : []
  })
}

function validateUpdate({ spec }: CsiDriver, { spec: old }: CsiDriver): readonly FieldError[] {
  return [
    // Upstream spells the field like this in its messages.
    ...checkUnchanged(spec.attachRequired, old.attachRequired, specPath.field('attachedRequired')),
    ...checkUnchanged(spec.volumeLifecycleModes, old.volumeLifecycleModes, specPath.field('volumeLifecycleModes')),
  ]
}

const unset = '<unset>'

/** `storage.k8s.io/v1` csidrivers. */
export const csiDrivers = kind<CsiDriver>(csiDriverSchema, {
  plural: 'csidrivers',
  namespaced: false,
  columns: [
    nameColumn,
    column('AttachRequired', ({ spec }) => spec.attachRequired ?? true, { field: 'spec.attachRequired' }),
    column('PodInfoOnMount', ({ spec }) => spec.podInfoOnMount ?? false, { field: 'spec.podInfoOnMount' }),
    column('StorageCapacity', ({ spec }) => spec.storageCapacity ?? false, { field: 'spec.storageCapacity' }),
    column(
      'TokenRequests',
      ({ spec: { tokenRequests } }) => (tokenRequests ? joined(tokenRequests.map(({ audience }) => audience)) : unset),
      {
        field: 'spec.tokenRequests',
      },
    ),
    column('RequiresRepublish', ({ spec }) => spec.requiresRepublish ?? false, { field: 'spec.requiresRepublish' }),
    column('Modes', ({ spec }) => joined(spec.volumeLifecycleModes ?? []) || '<none>', {
      field: 'spec.volumeLifecycleModes',
    }),
    ageColumn,
  ],
  countsGenerations: 'changes-only',
  rules: { updatesUnconditionally: false, returnsDeletedObject: true },
  prepareForCreate: (driver) => withoutVolumeLimitScaling(driver, undefined),
  prepareForUpdate: withoutVolumeLimitScaling,
  validate,
  validateUpdate,
  warnings,
})

/** Drivers that get tokens should get them as secrets: attributes of volumes end up in logs. */
function warnings({ spec }: CsiDriver, old: CsiDriver | undefined): readonly string[] {
  const { tokenRequests = [], serviceAccountTokenInSecrets } = spec
  const isNews = old === undefined || !deepEqual(tokenRequests, old.spec.tokenRequests ?? [])
  return isNews && tokenRequests.length > 0 && serviceAccountTokenInSecrets === undefined
    ? [
        'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes',
      ]
    : []
}

/** A field that upstream takes only with a feature that is off unless asked for (VolumeLimitScaling). */
function withoutVolumeLimitScaling(driver: CsiDriver, old: CsiDriver | undefined): CsiDriver {
  const { preventPodSchedulingIfMissing, ...spec } = driver.spec
  const isKept = preventPodSchedulingIfMissing === undefined || old?.spec.preventPodSchedulingIfMissing !== undefined
  return isKept ? driver : { ...driver, spec }
}
