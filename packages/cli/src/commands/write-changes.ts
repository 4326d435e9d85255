import { deepEqual, type KubernetesObject } from '@coracle/api'
import { CliError } from '../cli-error.ts'
import { patchBetween } from '../manifests/patch-between.ts'
import type { DryRun } from '../output/outcome-printer.ts'
import type { Session } from '../session.ts'
import type { Target } from './targets.ts'

export interface WriteChangesOptions {
  readonly dryRun: DryRun
  /** Who writes, for field ownership. */
  readonly fieldManager: string
  readonly subresource?: string
  /** What is said before the reason where the change is not taken, as kubectl's command does: `failed to patch:`. The error is of the command then. */
  readonly failure?: string
}

/**
 * Makes an object what `wanted` is, by a patch of what differs from what it was read as. Nothing is sent with
 * `--dry-run=client`, nor where nothing differs.
 */
export async function writeChanges(
  session: Session,
  { resource, key, object }: Target,
  wanted: KubernetesObject,
  { dryRun, fieldManager, subresource, failure }: WriteChangesOptions,
): Promise<KubernetesObject> {
  if (dryRun === 'client' || deepEqual(object, wanted)) return wanted
  const patch = patchBetween(resource, object, wanted)
  const options = { fieldManager, dryRun: dryRun === 'server', ...(subresource === undefined ? {} : { subresource }) }
  try {
    return await session.client.patch(resource, key, patch, options)
  } catch (error) {
    if (failure === undefined || !(error instanceof Error)) throw error
    throw new CliError(`${failure} ${error.message}`, { cause: error })
  }
}
