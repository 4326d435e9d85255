import { deepEqual, type KubernetesObject } from '@coracle/api'
import { patchBetween } from '../manifests/patch-between.ts'
import type { DryRun } from '../output/outcome-printer.ts'
import type { Session } from '../session.ts'
import type { Target } from './targets.ts'

export interface WriteChangesOptions {
  readonly dryRun: DryRun
  /** Who writes, for field ownership. */
  readonly fieldManager: string
  readonly subresource?: string
}

/**
 * Makes an object what `wanted` is, by a patch of what differs from what it was read as. Nothing is sent with
 * `--dry-run=client`, nor where nothing differs.
 */
export async function writeChanges(
  session: Session,
  { resource, key, object }: Target,
  wanted: KubernetesObject,
  { dryRun, fieldManager, subresource }: WriteChangesOptions,
): Promise<KubernetesObject> {
  if (dryRun === 'client' || deepEqual(object, wanted)) return wanted
  return session.client.patch(resource, key, patchBetween(resource, object, wanted), {
    fieldManager,
    dryRun: dryRun === 'server',
    ...(subresource === undefined ? {} : { subresource }),
  })
}
