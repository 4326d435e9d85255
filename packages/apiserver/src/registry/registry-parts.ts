import { ApiError } from '@coracle/api'
import type { Environment } from '@coracle/environment'
import type { AdmissionChain } from '../admission/admission.ts'
import type { Registry, Stored, WriteResult } from '../registry-contract.ts'
import type { RequestAttributes, User } from '../request.ts'
import type { VersionView } from '../versions/version-view.ts'
import type { StoreFeed } from '../watch-cache/store-feed.ts'
import type { WorkTurns } from '../work-turns.ts'
import type { KindStorage } from './kind-storage.ts'

/** What a registry is made of. */
export interface RegistryParts {
  readonly storage: KindStorage
  /** The version that is served. */
  readonly view: VersionView
  readonly feed: StoreFeed
  readonly environment: Environment
  readonly turns: WorkTurns
  readonly admission: AdmissionChain
  /** Throws Forbidden where somebody may not do something that the request as such does not tell. */
  authorize(user: User, attributes: RequestAttributes): void
  readonly registries: { byKind(apiVersion: string, kind: string): Pick<Registry, 'definition'> | undefined }
}

/** The answer to a write, in the version it was made through. */
export function answerOf(
  { view }: RegistryParts,
  stored: Stored,
  changed: boolean,
  warnings: readonly string[],
): WriteResult | Promise<WriteResult> {
  const shown = view.show(stored)
  return shown instanceof Promise
    ? shown.then((made) => ({ stored: made, changed, warnings }))
    : { stored: shown, changed, warnings }
}

/** Gives whoever is refused the warnings, too, that come before. */
export async function warning<T>(warnings: readonly string[], work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (error instanceof ApiError && error.warnings.length === 0) error.warnings = warnings
    throw error
  }
}
