import { type KubernetesObject, type Pod, pods } from '@coracle/api'
import { parseDuration } from '@coracle/environment'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { chooseContainer, choosePod } from '../resources/choose-container.ts'
import { selectorText } from '../resources/selector-text.ts'
import { type ConnectionFlags, type Session, withSession } from '../session.ts'

export interface LogFlags extends ConnectionFlags {
  readonly container?: string
  readonly follow?: boolean
  readonly previous?: boolean
  readonly tail?: number
  readonly since?: string
  readonly sinceTime?: string
  readonly timestamps?: boolean
  readonly limitBytes?: number
}

/** `coracle logs POD`, `coracle logs TYPE/NAME` */
export async function logs(host: Host, target: string, flags: LogFlags): Promise<void> {
  const query = logQuery(flags)
  await withSession(host, flags, async (session) => {
    const pod = await findPod(host, session, target)
    const choice = chooseContainer(pod, flags.container)
    if (choice.note !== undefined) host.stderr.write(`${choice.note}\n`)
    const { name = '', namespace = session.namespace } = pod.metadata
    const stream = await session.client.stream(pods, { name, namespace }, 'log', {
      ...query,
      container: choice.container,
    })
    for await (const chunk of stream) {
      host.stdout.write(chunk)
      await host.stdout.drained()
    }
  })
}

/** The query of a request for a log. Throws a CliError on flags that contradict each other. */
export function logQuery(flags: LogFlags): Readonly<Record<string, string>> {
  if (flags.since !== undefined && flags.sinceTime !== undefined) {
    throw new CliError('at most one of `sinceTime` or `sinceSeconds` may be specified: give --since or --since-time')
  }
  const query: Record<string, string> = {}
  if (flags.follow === true) query.follow = 'true'
  if (flags.previous === true) query.previous = 'true'
  if (flags.timestamps === true) query.timestamps = 'true'
  if (flags.tail !== undefined && flags.tail >= 0) query.tailLines = String(flags.tail)
  if (flags.since !== undefined) query.sinceSeconds = String(Math.ceil(parseDuration(flags.since) / 1000))
  if (flags.sinceTime !== undefined) query.sinceTime = flags.sinceTime
  if (flags.limitBytes !== undefined) query.limitBytes = String(flags.limitBytes)
  return query
}

async function findPod(host: Host, session: Session, target: string): Promise<Pod> {
  const { client, namespace } = session
  const [type = '', name] = target.includes('/') ? target.split('/', 2) : ['pods', target]
  if (name === undefined || name === '') throw new CliError(`"${target}" names no object: write POD or TYPE/NAME`)
  if (type === 'pods') return client.get(pods, { name, namespace })
  const resource = (await session.catalog()).find(type)
  if (resource.kind === 'Pod') return client.get(pods, { name, namespace })
  const owner = await client.get<KubernetesObject>(resource, { name, namespace })
  const labelSelector = selectorText(owner)
  if (labelSelector === undefined) throw new CliError(`a ${resource.kind} has no pods to read logs of`)
  const { items } = await client.list(pods, { namespace, labelSelector })
  const pod = choosePod(items)
  if (pod === undefined) throw new CliError(`no pods found for ${target}`)
  if (items.length > 1) host.stderr.write(`Found ${items.length} pods, using pod/${pod.metadata.name}\n`)
  return pod
}
