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

/** What is served and stored nowhere: what is asked of the server, and what it finds out when somebody looks. */
export const unstoredResources: readonly ResourceDefinition[] = Object.values(exported).filter(isUnstored)

function isUnstored(value: unknown): value is ResourceDefinition {
  return typeof value === 'object' && value !== null && 'listKind' in value && !isStoredKind(value)
}

function isStoredKind(value: unknown): value is StoredKind {
  return typeof value === 'object' && value !== null && 'storageKey' in value
}
