import type * as custom from '../../custom/index.ts'

type DefinitionChecks = Pick<
  typeof custom,
  'formatWarnings' | 'validateDefinition' | 'validateDefinitionStatus' | 'validateDefinitionUpdate'
>

let loaded: DefinitionChecks | undefined

/** Loads what checks definitions. It brings an engine for regular expressions, which a cluster without custom resources can do without. */
export async function loadDefinitionChecks(): Promise<void> {
  loaded ??= await import('../../custom/index.ts')
}

/** What checks definitions, once it is loaded. */
export function definitionChecks(): DefinitionChecks {
  if (loaded === undefined)
    throw new Error('the checks of definitions are not loaded: await the load of the strategy first')
  return loaded
}
