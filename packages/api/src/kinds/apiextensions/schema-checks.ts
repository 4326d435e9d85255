import type * as custom from '../../custom/index.ts'

type SchemaChecks = Pick<typeof custom, 'readCustomSchema' | 'isKnownFormat'>

let loaded: SchemaChecks | undefined

/** Loads what checks schemas. It brings an engine for regular expressions, which a cluster without custom resources can do without. */
export async function loadSchemaChecks(): Promise<void> {
  loaded ??= await import('../../custom/index.ts')
}

/** What checks schemas, once it is loaded. */
export function schemaChecks(): SchemaChecks {
  if (loaded === undefined)
    throw new Error('the checks of schemas are not loaded: await the load of the strategy first')
  return loaded
}
