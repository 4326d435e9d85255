import { compareText } from '../compare-text.ts'
import type { ResourceDefinition } from '../resource.ts'
import { type StoredKind, servedVersions } from '../stored-kind.ts'
import * as exported from './index.ts'

/** All built-in kinds, each once: by group, then by name. */
export const builtinKinds: readonly StoredKind[] = Object.values(exported)
  .filter(isStoredKind)
  .sort((a, b) => compareText(a.group, b.group) || compareText(a.plural, b.plural))

/** All versions of the built-in kinds that are served. */
export const builtinResources: readonly ResourceDefinition[] = builtinKinds.flatMap(servedVersions)

function isStoredKind(value: unknown): value is StoredKind {
  return typeof value === 'object' && value !== null && 'storageKey' in value
}
