import { type FieldError, invalidField, requiredField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { formatCidr, parseCidr } from '../../ip.ts'
import { kindSchema } from '../../meta.ts'
import { atomicList, mapList, object, optional, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { checkStrictCidr } from '../addresses.ts'
import { ageColumn, column, joined, nameColumn } from '../columns.ts'
import { kind } from '../kind.ts'
import { condition } from '../meta/condition.ts'
import { checkUnchanged } from '../validation.ts'
import { networkingV1 } from './names.ts'

export interface ServiceCidrSpec extends Infer<typeof serviceCidrSpec> {}
export const serviceCidrSpec = object(`${networkingV1}.ServiceCIDRSpec`, 'From where services get their addresses.', {
  cidrs: optional(
    atomicList(string()),
    'The ranges, one for each IP family. They cannot be changed, but the second one may be added.',
  ),
})

export interface ServiceCidrStatus extends Infer<typeof serviceCidrStatus> {}
export const serviceCidrStatus = object(`${networkingV1}.ServiceCIDRStatus`, 'Conditions of ranges of addresses.', {
  conditions: optional(mapList(condition, ['type']), 'Whether services get addresses from them, by type.'),
})

/** Ranges from which services get their addresses. */
export interface ServiceCidr extends Infer<typeof serviceCidrSchema> {}
export const serviceCidrSchema = kindSchema(
  `${networkingV1}.ServiceCIDR`,
  'Ranges from which services get their addresses. There may be several, and they may overlap.',
  {
    spec: optional(serviceCidrSpec, 'The ranges.', { default: {} }),
    status: optional(serviceCidrStatus, 'How the ranges are doing.', { default: {} }),
  },
)

const cidrsPath = FieldPath.of('spec', 'cidrs')
const cidrsMax = 2

function validateCreate({ spec }: ServiceCidr): readonly FieldError[] {
  const { cidrs = [] } = spec ?? {}
  if (cidrs.length === 0) return [requiredField(cidrsPath, 'at least one CIDR required')]
  if (cidrs.length > cidrsMax) return [invalidField(cidrsPath, cidrs, 'may only hold up to 2 values')]
  const errors = cidrs.flatMap((cidr, index) => checkCanonical(cidr, cidrsPath.index(index)))
  const families = new Set(cidrs.map((cidr) => parseCidr(cidr)?.family))
  if (errors.length > 0 || families.size === cidrs.length) return errors
  const why = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'
  return [invalidField(cidrsPath, cidrs, why)]
}

function checkCanonical(text: string, path: FieldPath): readonly FieldError[] {
  const range = parseCidr(text)
  const errors = checkStrictCidr(text, path)
  if (range === undefined || errors.length > 0) return errors
  const canonical = formatCidr(range)
  return text === canonical ? [] : [invalidField(path, text, `must be in canonical form ("${canonical}")`)]
}

/** A range stays, and one of the other family may come to it. */
function validateUpdate(serviceCidr: ServiceCidr, { spec: old }: ServiceCidr): readonly FieldError[] {
  const { cidrs } = serviceCidr.spec ?? {}
  const before = old?.cidrs ?? []
  const addsFamily = before.length === 1 && cidrs?.length === cidrsMax
  if (!addsFamily && before.length !== (cidrs?.length ?? 0))
    return [invalidField(cidrsPath, cidrs, 'field is immutable')]
  const changed = before.flatMap((cidr, index) => checkUnchanged(cidrs?.[index], cidr, cidrsPath.index(index)))
  return addsFamily ? [...changed, ...validateCreate(serviceCidr)] : changed
}

/** `networking.k8s.io/v1` servicecidrs. */
export const serviceCidrs = kind<ServiceCidr>(serviceCidrSchema, {
  plural: 'servicecidrs',
  rules: { statusKeeps: 'metadata' },
  namespaced: false,
  columns: [nameColumn, column('CIDRs', ({ spec }) => joined(spec?.cidrs ?? []), { field: 'spec.cidrs' }), ageColumn],
  validateCreate,
  validateUpdate,
})
