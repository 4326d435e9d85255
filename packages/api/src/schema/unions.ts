/** Sets of fields of which one may be present, in the words of apimachinery's api/validate. */
import { type FieldError, invalidField } from '../field-error.ts'
import type { FieldPath } from '../field-path.ts'
import type { JsonObject } from '../json.ts'
import type { Union } from './schema.ts'

/** What is wrong with an object's choice among the fields of a union. */
export function unionErrors(union: Union, value: JsonObject, path: FieldPath): readonly FieldError[] {
  if (union.checked === false) return []
  const present = union.fields.filter((name) => value[name] !== undefined && value[name] !== null)
  if (union.discriminator !== undefined) return discriminatedErrors(union, union.discriminator, value, present, path)
  const names = union.fields.map((name) => `\`${name}\``).join(', ')
  const exactly = union.arity === 'exactly-one'
  if (present.length > 1) {
    const shown = `{${present.join(', ')}}`
    return [invalidField(path, shown, `must specify ${exactly ? 'exactly' : 'at most'} one of: ${names}`)]
  }
  return present.length === 0 && exactly ? [invalidField(path, '', `must specify one of: ${names}`)] : []
}

/** The discriminator holds the name of the member, capitalized or not: `RollingUpdate` for `rollingUpdate`. */
function discriminatedErrors(
  union: Union,
  discriminator: string,
  value: JsonObject,
  present: readonly string[],
  path: FieldPath,
): readonly FieldError[] {
  const chosen = String(value[discriminator] ?? '')
  const named = (name: string): boolean => name.toLowerCase() === chosen.toLowerCase()
  const errors = present
    .filter((name) => !named(name))
    .map((name) => {
      const wanted = `${name.charAt(0).toUpperCase()}${name.slice(1)}`
      return invalidField(path.field(name), '', `may only be specified when \`${discriminator}\` is "${wanted}"`)
    })
  const missing =
    union.arity === 'exactly-one' ? union.fields.find((name) => named(name) && !present.includes(name)) : undefined
  if (missing === undefined) return errors
  return [
    ...errors,
    invalidField(path.field(missing), '', `must be specified when \`${discriminator}\` is "${chosen}"`),
  ]
}
