import { isJsonObject } from '@coracle/api'
import { parseDuration } from '@coracle/environment'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { plainFieldManager } from '../manifests/field-managers.ts'
import { kindText } from '../resources/object-text.ts'
import type { Session } from '../session.ts'
import { waitUntilGone } from './await-deletion.ts'
import { awaitObject } from './await-object.ts'
import { type ChangeFlags, changeObjects } from './change-objects.ts'
import type { Target } from './targets.ts'

export interface StopFlags extends ChangeFlags {
  readonly gracePeriod?: number
  /** How long each object may take; `0s`: as long as it takes. */
  readonly timeout: string
}

/** `coracle stop TYPE NAME`: no more pods, then nothing that makes them */
export async function stop(host: Host, args: readonly string[], flags: StopFlags): Promise<void> {
  const timeoutMs = parseDuration(flags.timeout)
  await changeObjects(host, args, 'stop', flags, async (session, target) => {
    const { resource, key } = target
    if (flags.dryRun === 'none') await stopOne(host, session, target, flags, timeoutMs)
    host.stdout.write(`${kindText(resource)} "${key.name}" stopped${flags.dryRun === 'none' ? '' : ' (dry run)'}\n`)
    return undefined
  })
}

async function stopOne(
  host: Host,
  session: Session,
  target: Target,
  { gracePeriod }: StopFlags,
  timeoutMs: number,
): Promise<void> {
  const { resource, key, object } = target
  const { client } = session
  if (resource.subresources.includes('scale')) {
    const options = { subresource: 'scale', fieldManager: plainFieldManager }
    await client.patch(resource, key, { type: 'merge', body: { spec: { replicas: 0 } } }, options)
    const isEmpty = await awaitObject(host, session, target, timeoutMs, (each) => {
      const status = each !== undefined && 'status' in each && isJsonObject(each.status) ? each.status : {}
      return each === undefined || (status.replicas ?? 0) === 0
    })
    if (!isEmpty) throw new CliError(`timed out waiting for the pods of ${kindText(resource)} "${key.name}" to stop`)
  }
  await client.delete(resource, key, {
    propagationPolicy: 'Background',
    ...(gracePeriod === undefined || gracePeriod < 0 ? {} : { gracePeriodSeconds: gracePeriod }),
  })
  await waitUntilGone(host, session, [{ resource, key, uid: object.metadata.uid }], timeoutMs)
}
