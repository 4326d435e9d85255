/**
 * Schemas of custom resources. Apart from the rest of this package, because it brings an engine for regular expressions and one
 * for rules: load it when there is a custom resource.
 */
export { formatWarnings } from '../kinds/apiextensions/format-warnings.ts'
export {
  validateDefinition,
  validateDefinitionStatus,
  validateDefinitionUpdate,
} from '../kinds/apiextensions/validation.ts'
export { type Convert, customKind } from './custom-kind.ts'
export type { JsonSchemaProps } from './json-schema-props.ts'
export {
  type CustomKindNames,
  type CustomSchema,
  customDefinitionName,
  readCustomSchema,
} from './read-custom-schema.ts'
