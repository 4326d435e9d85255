import { compareText } from '../../../compare-text.ts'
import { compareQuantity } from '../../../quantity.ts'
import { ageColumn, column, nameColumn } from '../../columns.ts'
import { kind } from '../../kind.ts'
import { wholeMillis } from '../common.ts'
import { limitChecks } from '../limit-checks.ts'
import { type ResourceQuota, resourceQuotaSchema } from './schema.ts'

/** `v1` resourcequotas. */
export const resourceQuotas = kind<ResourceQuota>(resourceQuotaSchema, {
  plural: 'resourcequotas',
  shortNames: ['quota'],
  columns: [
    nameColumn,
    column('Request', (quota) => shownUse(quota, (name) => !isLimit(name)), 'How much is used of what is allowed.'),
    column('Limit', (quota) => shownUse(quota, isLimit), 'How much is used of the limits that are allowed.'),
    ageColumn,
  ],
  rules: { returnsDeletedObject: true },
  defaults: withWholeMillis,
  warnings: (quota, old) => (old === undefined ? limitWarnings(quota) : []),
  load: limitChecks.load,
  validate: (quota) => limitChecks.get().validateResourceQuota(quota),
  validateUpdate: (quota, old) => limitChecks.get().validateResourceQuotaUpdate(quota, old),
  validateStatusUpdate: (quota) => limitChecks.get().validateResourceQuotaStatus(quota),
})

const limitedResources = ['cpu', 'memory', 'storage', 'ephemeral-storage'] as const

/** Who may ask for more than is allowed to be used (resourcequotaStrategy.WarningsOnCreate). */
function limitWarnings({ spec: { hard = {} } = {} }: ResourceQuota): readonly string[] {
  return limitedResources.flatMap((name) => {
    const isBare = hard[`requests.${name}`] === undefined && (name === 'cpu' || name === 'memory')
    const requests = isBare ? name : `requests.${name}`
    const [request, limit] = [hard[requests], hard[`limits.${name}`]]
    if (request === undefined || limit === undefined || compareQuantity(request, limit) <= 0) return []
    return [`ResourceQuota ${requests} (${request}) should be less than limits.${name} (${limit})`]
  })
}

const isLimit = (name: string): boolean => name.startsWith('limits.')

/** `pods: 1/10, requests.cpu: 100m/1` */
function shownUse({ status }: ResourceQuota, isShown: (name: string) => boolean): string {
  return Object.entries(status?.hard ?? {})
    .filter(([name]) => isShown(name))
    .sort(([a], [b]) => compareText(a, b))
    .map(([name, hard]) => `${name}: ${status?.used?.[name] ?? '0'}/${hard}`)
    .join(', ')
}

function withWholeMillis(quota: ResourceQuota): ResourceQuota {
  const { spec, status } = quota
  const [hard, inForce, used] = [wholeMillis(spec?.hard), wholeMillis(status?.hard), wholeMillis(status?.used)]
  const keepsStatus = inForce === status?.hard && used === status?.used
  if (hard === spec?.hard && keepsStatus) return quota
  return {
    ...quota,
    ...(hard === spec?.hard ? {} : { spec: { ...spec, hard } }),
    ...(keepsStatus ? {} : { status: { ...status, hard: inForce, used } }),
  }
}
