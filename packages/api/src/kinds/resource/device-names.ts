/** Names of drivers, pools, devices and their attributes, in the words of upstream's validation of the resource group. */
import { type FieldError, invalidField, requiredField, tooLongField } from '../../field-error.ts'
import type { FieldPath } from '../../field-path.ts'
import { patternMessage } from '../../string-formats.ts'
import { utf8Bytes } from '../core/data-size.ts'
import { checkTextOrEmpty } from '../core/pod/validation/checks.ts'
import { validateDriverName } from '../core/pod/validation/volumes.ts'
import { identifierBytesMax, poolNameBytesMax } from './limits.ts'

/** Nothing where it is empty: that it must be there is said by the schema. */
export const checkDriverName = (name: string | undefined, path: FieldPath): readonly FieldError[] =>
  validateDriverName(name ?? '', path)

/** A label, as names of devices, requests and counters are. */
export const checkLabel = (name: string, path: FieldPath): readonly FieldError[] =>
  checkTextOrEmpty('dns1123-label', name, path)

/** Subdomains with slashes between them. */
export function checkPoolName(name: string | undefined, path: FieldPath): readonly FieldError[] {
  if (!name) return [requiredField(path)]
  return [
    ...(utf8Bytes(name) > poolNameBytesMax ? [tooLongField(path, poolNameBytesMax)] : []),
    ...name.split('/').flatMap((part) => checkTextOrEmpty('dns1123-subdomain', part, path)),
  ]
}

const identifier = '[A-Za-z_][A-Za-z0-9_]*'
const identifierPattern = new RegExp(`^${identifier}$`)
const identifierMessage = patternMessage(
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_'",
  identifier,
  'my_name',
  'MY_NAME',
  'MyName',
)

function checkIdentifier(name: string, path: FieldPath): readonly FieldError[] {
  return [
    ...(utf8Bytes(name) > identifierBytesMax ? [tooLongField(path, identifierBytesMax)] : []),
    ...(identifierPattern.test(name) ? [] : [invalidField(path, name, identifierMessage)]),
  ]
}

/** The name of an attribute or capacity: an identifier, which may stand after a domain and a slash. */
export function checkQualifiedName(name: string, path: FieldPath): readonly FieldError[] {
  const [first = '', second, ...more] = name.split('/')
  if (more.length > 0) return [invalidField(path, name, 'must not contain more than one slash')]
  if (second === undefined) return checkIdentifier(first, path)
  return [
    ...(first === '' ? [invalidField(path, '', 'the domain must not be empty')] : checkDriverName(first, path)),
    ...(second === '' ? [invalidField(path, '', 'the name must not be empty')] : checkIdentifier(second, path)),
  ]
}

/** Such a name with its domain. */
export function checkFullyQualifiedName(name: string, path: FieldPath): readonly FieldError[] {
  const errors = checkQualifiedName(name, path)
  if (name.includes('/')) return errors
  const why = 'a fully qualified name must be a domain and a name separated by a slash'
  return [...errors, invalidField(path, name, why)]
}

/** Domain and identifier of an attribute or capacity of a device. Without a domain it is in that of its driver. */
export function splitQualifiedName(name: string, driver: string): readonly [domain: string, identifier: string] {
  const slash = name.indexOf('/')
  return slash < 0 ? [driver, name] : [name.slice(0, slash), name.slice(slash + 1)]
}
