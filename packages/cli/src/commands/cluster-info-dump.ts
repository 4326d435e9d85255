import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import {
  apiVersionOf,
  type KubernetesList,
  namespaces,
  nodes,
  type Pod,
  parseExactJson,
  pods,
  type Resource,
} from '@coracle/api'
import { collectionPath } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import type { ConnectionFlags } from '../connection.ts'
import type { Host } from '../host.ts'
import { inDeclaredOrder } from '../output/declared-order.ts'
import { ObjectPrinter } from '../output/object-printer.ts'
import { readGivenFormat } from '../output/output-format.ts'
import { pathInside } from '../output/path-inside.ts'
import { type Session, withSession } from '../session.ts'

export interface DumpFlags extends ConnectionFlags {
  readonly allNamespaces?: boolean
  readonly namespaces: readonly string[]
  readonly outputDirectory?: string
  /** Absent: JSON, or what `template` says. */
  readonly output?: string
  readonly template?: string
  readonly showManagedFields?: boolean
  readonly allowMissingTemplateKeys: boolean
}

const resource = (group: string, kind: string, plural: string): Resource => ({
  group,
  version: 'v1',
  kind,
  plural,
  namespaced: true,
})

/** What is written of each namespace, by the names of kubectl's files. */
const dumped: readonly (readonly [file: string, resource: Resource])[] = [
  ['events', resource('', 'Event', 'events')],
  ['replication-controllers', resource('', 'ReplicationController', 'replicationcontrollers')],
  ['services', resource('', 'Service', 'services')],
  ['daemonsets', resource('apps', 'DaemonSet', 'daemonsets')],
  ['deployments', resource('apps', 'Deployment', 'deployments')],
  ['replicasets', resource('apps', 'ReplicaSet', 'replicasets')],
  ['pods', pods],
]

/** More of a log than this is not dumped. */
const logBytesMax = 64 * 1024 * 1024

/** `coracle cluster-info dump`: nodes, workloads, events and logs, to files or standard output */
export async function dumpClusterInfo(host: Host, flags: DumpFlags): Promise<void> {
  const isPlain = flags.output === undefined && (flags.template ?? '') === ''
  const format = isPlain ? undefined : await readGivenFormat(host, { output: 'go-template', ...flags })
  const printer = new ObjectPrinter(format === undefined || format.type === 'table' ? { type: 'json' } : format, {
    managedFields: flags.showManagedFields === true,
    requireKeys: !flags.allowMissingTemplateKeys,
    order: inListOrder,
  })
  const { output = 'json' } = flags
  const extension = output === 'json' || output === 'yaml' ? output : 'txt'
  const write = writerTo(host, flags.outputDirectory)
  await withSession(host, flags, async (session) => {
    const { client } = session
    await write(`nodes.${extension}`, await listText(session, nodes, undefined, printer))
    for (const namespace of await wantedNamespaces(session, flags)) {
      for (const [file, each] of dumped) {
        await write(join(namespace, `${file}.${extension}`), await listText(session, each, namespace, printer))
      }
      const { items } = await client.list<Pod>(pods, { namespace })
      for (const pod of items) {
        await write(join(namespace, pod.metadata.name ?? '', 'logs.txt'), await logsOf(session, namespace, pod))
      }
    }
  })
  if (isDirectory(flags.outputDirectory)) host.stdout.write(`Cluster info dumped to ${flags.outputDirectory}\n`)
}

async function wantedNamespaces({ client, namespace }: Session, flags: DumpFlags): Promise<readonly string[]> {
  if (flags.allNamespaces === true) {
    const { items } = await client.list(namespaces)
    return items.map(({ metadata }) => metadata.name ?? '')
  }
  return flags.namespaces.length > 0 ? flags.namespaces : [...new Set(['kube-system', namespace])]
}

async function listText(
  { client }: Session,
  resource: Resource,
  namespace: string | undefined,
  printer: ObjectPrinter,
): Promise<string> {
  // As it came, with what is null in it.
  const list = parseExactJson(await client.rawGet(collectionPath(resource, namespace))) as KubernetesList
  // Its items do not say what they are: the list does. For none Go has null.
  const plain = (list.items ?? []).map(({ apiVersion: _, kind: __, ...item }) => item)
  const items = plain.length === 0 ? null : plain
  const object = { ...list, items, apiVersion: apiVersionOf(resource), kind: `${resource.kind}List` }
  if (printer.printsNames) {
    throw new CliError(`list types are not supported by name printing: *${resource.version}.${object.kind}`)
  }
  return printer.one({ resource, object })
}

/** A list as kubectl prints those it has types for. */
function inListOrder(resource: Resource, list: unknown): unknown {
  const { kind, apiVersion, metadata, items } = list as Omit<KubernetesList, 'items'> & {
    readonly items: unknown[] | null
  }
  return { kind, apiVersion, metadata, items: items?.map((item) => inDeclaredOrder(resource, item)) ?? null }
}

/** What all containers of a pod have written; of one that cannot be read, why. */
async function logsOf({ client }: Session, namespace: string, { metadata, spec }: Pod): Promise<string> {
  const name = metadata.name ?? ''
  const texts: string[] = []
  for (const container of [...(spec.initContainers ?? []), ...spec.containers]) {
    const what = `logs for container ${container.name} of pod ${namespace}/${name}`
    texts.push(`==== START ${what} ====\n`)
    try {
      const pieces = await client.stream(pods, { namespace, name }, 'log', {
        container: container.name,
        limitBytes: String(logBytesMax),
      })
      for await (const piece of pieces) texts.push(Buffer.from(piece).toString('utf8'))
    } catch (error) {
      texts.push(`Request log error: ${error instanceof Error ? error.message : error}\n`)
    }
    texts.push(`==== END ${what} ====\n`)
  }
  return texts.join('')
}

const isDirectory = (path: string | undefined): path is string => path !== undefined && path !== '' && path !== '-'

/** Writes a file of the dump; without a directory all go to standard output. */
function writerTo(host: Host, directory: string | undefined): (name: string, text: string) => Promise<void> {
  if (!isDirectory(directory)) {
    return async (_, text) => {
      host.stdout.write(text)
      await host.stdout.drained()
    }
  }
  const root = resolve(host.workingDirectory, directory)
  return async (name, text) => {
    const path = pathInside(root, name)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, text)
  }
}
