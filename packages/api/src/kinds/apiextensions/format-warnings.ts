import type { JsonSchemaProps } from '../../custom/json-schema-props.ts'
import { isKnownFormat } from '../../schema/structural/formats.ts'
import type { CustomResourceDefinition } from './custom-resource-definition-schema.ts'
import { internalForm } from './internal-form.ts'
import { someSchema } from './schemas-within.ts'

/** Warnings of formats that nothing is checked by; those that were in the old definition already have been told. */
export function formatWarnings(
  definition: CustomResourceDefinition,
  old: CustomResourceDefinition | undefined,
): readonly string[] {
  const before = old === undefined ? new Set<string>() : unrecognizedFormats(old)
  return [...unrecognizedFormats(definition)]
    .filter((format) => !before.has(format))
    .map((format) => `unrecognized format ${JSON.stringify(format)}`)
}

function unrecognizedFormats({ spec }: CustomResourceDefinition): ReadonlySet<string> {
  const { shared, versions } = internalForm(spec)
  const found = new Set<string>()
  const note = ({ type = '', format = '' }: JsonSchemaProps): boolean => {
    if (format !== '' && !isRecognized(type, format)) found.add(format)
    return false
  }
  for (const { schema } of [shared, ...versions]) someSchema(schema?.openAPIV3Schema, note)
  return found
}

function isRecognized(type: string, format: string): boolean {
  switch (type) {
    case '':
    case 'string':
      return isKnownFormat(format)
    case 'integer':
      return format === 'int32' || format === 'int64'
    case 'number':
      return format === 'float' || format === 'double'
    default:
      return false
  }
}
