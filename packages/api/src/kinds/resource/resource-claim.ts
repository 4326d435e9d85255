import { FieldPath } from '../../field-path.ts'
import { ageColumn, column, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { checkUnchanged } from '../validation.ts'
import { deviceChecks } from './device-checks.ts'
import { deviceId } from './device-id.ts'
import { withRequestDefaults } from './device-request-defaults.ts'
import { type ResourceClaim, type ResourceClaimSpec, resourceClaimSchema } from './resource-claim-schema.ts'

/** Keeps a claim that has devices until they are taken back. */
export const resourceClaimFinalizer = 'resource.kubernetes.io/delete-protection'
/** On claims that were made from a template: which of the pod's claims it is. */
export const podClaimNameAnnotation = 'resource.kubernetes.io/pod-claim-name'
/** The label, and its value, of namespaces whose claims may ask for devices that others use. */
export const deviceAdminNamespaceLabel = { key: 'resource.kubernetes.io/admin-access', value: 'true' } as const

/** `pending`, `allocated,reserved` and so on, as tables show it. */
export function resourceClaimState({ metadata, status = {} }: ResourceClaim): string {
  const isDeleted = metadata.deletionTimestamp !== undefined
  const states = isDeleted ? ['deleted'] : []
  if (status.allocation !== undefined) states.push('allocated', ...(status.reservedFor?.length ? ['reserved'] : []))
  else if (!isDeleted) states.push('pending')
  return states.join(',')
}

/** What a claim asks for, with what is meant where nothing is said. The same value where that is nothing. */
export function withClaimDefaults(spec: ResourceClaimSpec): ResourceClaimSpec {
  const { devices = {} } = spec
  const next = withRequestDefaults(devices)
  return next === devices ? spec : { ...spec, devices: next }
}

/** What drivers said of devices goes with the devices. */
function withoutStatusOfFormerDevices(claim: ResourceClaim, old: ResourceClaim): ResourceClaim {
  const { devices, ...status } = claim.status ?? {}
  if (devices === undefined) return claim
  const idsOf = (of: ResourceClaim) =>
    new Set((of.status?.allocation?.devices?.results ?? []).map((each) => deviceId({ ...each, shareID: undefined })))
  const [before, now] = [idsOf(old), idsOf(claim)]
  const kept = devices.filter((each) => {
    const id = deviceId({ ...each, shareID: undefined })
    return !before.has(id) || now.has(id)
  })
  if (kept.length === devices.length) return claim
  return { ...claim, status: kept.length === 0 ? status : { ...status, devices: kept } }
}

const specPath = FieldPath.of('spec')

/** `resource.k8s.io/v1` resourceclaims. */
export const resourceClaims = kind<ResourceClaim>(resourceClaimSchema, {
  plural: 'resourceclaims',
  columns: [
    nameColumn,
    column('State', resourceClaimState, {
      type: 'string',
      description: 'Whether the claim has devices (allocated) and somebody uses them (reserved).',
    }),
    ageColumn,
  ],
  defaults: (claim) => {
    const spec = withClaimDefaults(claim.spec)
    return spec === claim.spec ? claim : { ...claim, spec }
  },
  rules: { returnsDeletedObject: true, statusKeeps: 'metadata' },
  load: deviceChecks.load,
  prepareForStatusUpdate: withoutStatusOfFormerDevices,
  validateCreate: ({ spec }) => deviceChecks.get().checkDeviceClaim(spec.devices ?? {}, specPath.field('devices')),
  validateUpdate: ({ spec }, old) => checkUnchanged(spec, old.spec, specPath, 'resource.ResourceClaimSpec'),
  validateStatusUpdate: (claim, old) => deviceChecks.get().checkClaimStatus(claim, old),
})
