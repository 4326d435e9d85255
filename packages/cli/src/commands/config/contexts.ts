import type { KubeconfigDocument, KubeconfigEntry } from '@coracle/client'
import { CliError } from '../../cli-error.ts'
import type { ConnectionFlags } from '../../connection.ts'
import type { Host } from '../../host.ts'
import { editKubeconfigs, readKubeconfigs } from '../../kubeconfig/edit-kubeconfig.ts'
import { defaultKubeconfigName, kubeconfigFiles } from '../../kubeconfig/kubeconfig-files.ts'
import { alignTabs, tableAlignment } from '../../output/align.ts'

/** `coracle config current-context` */
export async function showCurrentContext(host: Host, flags: ConnectionFlags): Promise<void> {
  const { currentContext } = await readKubeconfigs(await kubeconfigFiles(host, flags.kubeconfig))
  if (currentContext === undefined) throw new CliError('current-context is not set')
  host.stdout.write(`${currentContext}\n`)
}

export interface GetContextsFlags extends ConnectionFlags {
  readonly output?: string
  /** False with `--no-headers`. */
  readonly headers: boolean
}

/** `coracle config get-contexts [NAME…]` */
export async function getContexts(host: Host, names: readonly string[], flags: GetContextsFlags): Promise<void> {
  const { output } = flags
  if (output !== undefined && output !== '' && output !== 'name') {
    throw new CliError(
      `--output ${output} is not available in coracle config get-contexts; resetting to default output format`,
    )
  }
  const { contexts, currentContext } = await readKubeconfigs(await kubeconfigFiles(host, flags.kubeconfig))
  const missing = names.filter((name) => !contexts.has(name))
  const shown = (names.length === 0 ? [...contexts.keys()] : names.filter((name) => contexts.has(name))).toSorted()
  if (output === 'name') host.stdout.write(shown.map((name) => `${name}\n`).join(''))
  else {
    const rows = shown.map((name) => {
      const { cluster, user, namespace } = contexts.get(name)?.fields ?? {}
      return [name === currentContext ? '*' : '', name, cluster, user, namespace].map((cell) => String(cell ?? ''))
    })
    const lines = flags.headers ? [['CURRENT', 'NAME', 'CLUSTER', 'AUTHINFO', 'NAMESPACE'], ...rows] : rows
    host.stdout.write(alignTabs(lines.map((cells) => `${cells.join('\t')}\n`).join(''), tableAlignment))
  }
  if (missing.length > 0) throw new AggregateError(missing.map((name) => new CliError(`context ${name} not found`)))
}

/** `coracle config get-clusters` and `get-users` */
export async function listNames(host: Host, list: 'clusters' | 'users', flags: ConnectionFlags): Promise<void> {
  const document = await readKubeconfigs(await kubeconfigFiles(host, flags.kubeconfig))
  host.stdout.write(['NAME', ...[...document[list].keys()].toSorted()].map((name) => `${name}\n`).join(''))
}

/** `coracle config use-context NAME` */
export async function useContext(host: Host, name: string, flags: ConnectionFlags): Promise<void> {
  const files = await kubeconfigFiles(host, flags.kubeconfig)
  await editKubeconfigs(files, (document) => {
    if (!document.contexts.has(name)) throw new CliError(`no context exists with the name: ${JSON.stringify(name)}`)
    return { ...document, currentContext: name }
  })
  host.stdout.write(`Switched to context ${JSON.stringify(name)}.\n`)
}

/** `coracle config rename-context OLD NEW` */
export async function renameContext(host: Host, from: string, to: string, flags: ConnectionFlags): Promise<void> {
  const files = await kubeconfigFiles(host, flags.kubeconfig)
  const path = await defaultKubeconfigName(files)
  await editKubeconfigs(files, ({ contexts, currentContext, ...document }) => {
    const entry = contexts.get(from)
    if (entry === undefined)
      throw new CliError(`cannot rename the context ${JSON.stringify(from)}, it's not in ${path}`)
    if (contexts.has(to)) {
      throw new CliError(
        `cannot rename the context ${JSON.stringify(from)}, the context ${JSON.stringify(to)} already exists in ${path}`,
      )
    }
    return {
      ...document,
      contexts: new Map([...[...contexts].filter(([name]) => name !== from), [to, entry] as const]),
      currentContext: currentContext === from ? to : currentContext,
    }
  })
  host.stdout.write(`Context ${JSON.stringify(from)} renamed to ${JSON.stringify(to)}.\n`)
}

/** What the commands that delete call an entry. */
const nouns = { contexts: 'context', clusters: 'cluster', users: 'user' } as const

/** `coracle config delete-context NAME`, and the same of clusters and users */
export async function deleteEntry(
  host: Host,
  list: keyof typeof nouns,
  name: string,
  flags: ConnectionFlags,
): Promise<void> {
  const files = await kubeconfigFiles(host, flags.kubeconfig)
  const path = await defaultKubeconfigName(files)
  const noun = nouns[list]
  let isCurrent = false
  await editKubeconfigs(files, (document) => {
    if (!document[list].has(name)) throw new CliError(`cannot delete ${noun} ${name}, not in ${path}`)
    isCurrent = list === 'contexts' && document.currentContext === name
    return { ...document, [list]: without(document[list], name) } satisfies KubeconfigDocument
  })
  if (isCurrent) {
    host.stderr.write(
      'warning: this removed your active context, use "coracle config use-context" to select a different one\n',
    )
  }
  host.stdout.write(`deleted ${noun} ${name} from ${path}\n`)
}

const without = (entries: ReadonlyMap<string, KubeconfigEntry>, name: string) =>
  new Map([...entries].filter(([each]) => each !== name))
