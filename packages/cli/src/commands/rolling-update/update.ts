import { hasReason, type ReplicationController, replicationControllers } from '@coracle/api'
import type { Host } from '../../host.ts'
import { plainFieldManager } from '../../manifests/field-managers.ts'
import type { ManifestFlags } from '../../manifests/load-manifests.ts'
import type { OutcomeFlags } from '../../output/outcome-printer.ts'
import type { ConnectionFlags, Session } from '../../session.ts'
import { waitUntilGone } from '../await-deletion.ts'

export interface RollingUpdateFlags extends ConnectionFlags, ManifestFlags, OutcomeFlags {
  readonly image?: string
  readonly container?: string
  readonly imagePullPolicy?: string
  readonly deploymentLabelKey: string
  /** Between one pod and the next. */
  readonly updatePeriod: string
  /** Between one look and the next. */
  readonly pollInterval: string
  /** How long a step may take. */
  readonly timeout: string
  /** Goes back to the old controller. */
  readonly rollback?: boolean
}

export const fieldManager = plainFieldManager

/** How often a write is tried again that came between the writes of others. */
const conflictsMax = 20

/** What an update works with. */
export interface Update {
  readonly host: Host
  readonly session: Session
  readonly flags: RollingUpdateFlags
  readonly updatePeriodMs: number
  readonly pollIntervalMs: number
  readonly timeoutMs: number
}

const keyIn = ({ namespace }: Session, name: string) => ({ namespace, name })

export const getController = (session: Session, name: string): Promise<ReplicationController> =>
  session.client.get<ReplicationController>(replicationControllers, keyIn(session, name))

export async function findController(session: Session, name: string): Promise<ReplicationController | undefined> {
  try {
    return await getController(session, name)
  } catch (error) {
    if (hasReason(error, 'NotFound')) return undefined
    throw error
  }
}

/** Reads, changes and writes a controller; again where somebody else has written in between. */
export async function change(
  session: Session,
  name: string,
  make: (controller: ReplicationController) => ReplicationController,
): Promise<ReplicationController> {
  for (let tries = 1; ; tries++) {
    const controller = await getController(session, name)
    try {
      return await session.client.update(replicationControllers, make(controller), { fieldManager })
    } catch (error) {
      if (!hasReason(error, 'Conflict') || tries >= conflictsMax) throw error
    }
  }
}

export async function removeController(
  { host, session, timeoutMs }: Update,
  name: string,
  propagationPolicy: 'Background' | 'Orphan',
): Promise<void> {
  const resource = (await session.catalog()).find('replicationcontrollers')
  try {
    await session.client.delete(resource, keyIn(session, name), { propagationPolicy })
  } catch (error) {
    if (hasReason(error, 'NotFound')) return
    throw error
  }
  await waitUntilGone(host, session, [{ resource, key: keyIn(session, name), uid: undefined }], timeoutMs)
}
