import { CliError } from '../cli-error.ts'
import { withLastApplied } from '../manifests/apply-object.ts'
import { fieldManagerOf } from '../manifests/field-managers.ts'
import type { ManifestCommandFlags, Placed } from './manifest-command.ts'
import type { RecreateFlags } from './recreate.ts'

export interface ReplaceFlags extends ManifestCommandFlags, RecreateFlags {
  /** Deletes what is there and creates it anew: also where fields differ that may not be changed. */
  readonly force?: boolean
  readonly saveConfig?: boolean
  readonly subresource?: string
  /** A path of the server to put the file to as it is. */
  readonly raw?: string
}

/** Who replaces, for field ownership. */
export const replaceFieldManager = fieldManagerOf('replace')

/** What is put in the place of another. Throws a CliError where it has no name. */
export function replacementOf(placed: Placed, { saveConfig }: ReplaceFlags): Placed {
  if ((placed.object.metadata.name ?? '') === '') {
    throw new CliError(`error when replacing "${placed.source}": resource name may not be empty`)
  }
  return saveConfig === true ? { ...placed, object: withLastApplied(placed.object) } : placed
}
