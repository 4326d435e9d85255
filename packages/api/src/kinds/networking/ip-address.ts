import { type FieldError, invalidField } from '../../field-error.ts'
import { FieldPath } from '../../field-path.ts'
import { kindSchema } from '../../meta.ts'
import { object, optional, required, string } from '../../schema/builders.ts'
import type { Infer } from '../../schema/schema.ts'
import { checkPathSegment } from '../../string-formats.ts'
import { checkCanonicalIp } from '../addresses.ts'
import { column, nameColumn } from '../columns.ts'
import { checkTextOrEmpty } from '../core/pod/validation/checks.ts'
import { kind } from '../kind.ts'
import { checkUnchanged } from '../validation.ts'
import { networkingV1 } from './names.ts'

export interface ParentReference extends Infer<typeof parentReference> {}
export const parentReference = object(`${networkingV1}.ParentReference`, 'The object that an address belongs to.', {
  group: optional(string(), 'API group of the object.'),
  resource: required(string(), 'Kind of the object, as in URLs.'),
  namespace: optional(string(), 'Namespace of the object.'),
  name: required(string(), 'Name of the object.'),
})

export interface IpAddressSpec extends Infer<typeof ipAddressSpec> {}
export const ipAddressSpec = object(`${networkingV1}.IPAddressSpec`, 'The object that an address is reserved for.', {
  parentRef: required(parentReference, 'The object that has the address. It cannot be changed.'),
})

/** An address that is taken. Its name is the address. */
export interface IpAddressObject extends Infer<typeof ipAddressSchema> {}
export const ipAddressSchema = kindSchema(
  `${networkingV1}.IPAddress`,
  'An address that is taken, so that no other service gets it. Its name is the address.',
  { spec: required(ipAddressSpec, 'Whose address it is.') },
)

/** Labels of an address: its family, IPv4 or IPv6, and who keeps the object. */
export const ipFamilyLabel = 'ipaddress.kubernetes.io/ip-family'
export const ipManagedByLabel = 'ipaddress.kubernetes.io/managed-by'

const parentPath = FieldPath.of('spec', 'parentRef')

function validate({ spec }: IpAddressObject): readonly FieldError[] {
  const { group = '' } = spec?.parentRef ?? {}
  const segments = (['resource', 'name', 'namespace'] as const).flatMap((part) => {
    const value = spec?.parentRef?.[part] ?? ''
    return checkPathSegment(value).map((why) => invalidField(parentPath.field(part), value, why))
  })
  return [...(group === '' ? [] : checkTextOrEmpty('dns1123-subdomain', group, parentPath.field('group'))), ...segments]
}

function validateName({ metadata: { name = '' } }: IpAddressObject): readonly FieldError[] {
  return checkCanonicalIp(name, FieldPath.of('metadata', 'name'))
}

const shownReference = (parent: ParentReference | undefined): unknown =>
  parent && {
    Group: parent.group ?? '',
    Resource: parent.resource ?? '',
    Namespace: parent.namespace ?? '',
    Name: parent.name ?? '',
  }

function shownParent({ spec }: IpAddressObject): string {
  const { group, resource, namespace, name } = spec.parentRef
  const kinds = (group ? `${resource}.${group}` : resource).toLowerCase()
  return [kinds, ...(namespace ? [namespace] : []), name].join('/')
}

/** `networking.k8s.io/v1` ipaddresses. */
export const ipAddresses = kind<IpAddressObject>(ipAddressSchema, {
  plural: 'ipaddresses',
  shortNames: ['ip'],
  namespaced: false,
  nameFormat: 'path-segment',
  columns: [nameColumn, column('ParentRef', shownParent, 'The object that has the address.')],
  validate,
  validateCreate: validateName,
  validateUpdate: ({ spec }: Partial<IpAddressObject>, old) =>
    checkUnchanged(shownReference(spec?.parentRef), shownReference(old.spec.parentRef), parentPath),
})
