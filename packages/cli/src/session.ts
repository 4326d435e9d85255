import { access } from 'node:fs/promises'
import { delimiter, join, resolve } from 'node:path'
import { connectionOf, createHttpClient, type HttpClient, loadKubeconfig } from '@coracle/client'
import { CliError } from './cli-error.ts'
import type { Host } from './host.ts'
import { ResourceCatalog } from './resources/resource-catalog.ts'

/** Flags every command has that talks to a server. */
export interface ConnectionFlags {
  readonly kubeconfig?: string
  readonly context?: string
  readonly namespace?: string
}

/** A server that a command talks to. */
export interface Session {
  readonly client: HttpClient
  /** The namespace where none is named: the flag's, or else the context's. */
  readonly namespace: string
  /** The namespace the flag names. */
  readonly givenNamespace: string | undefined
  /** The server's resources; asked for once. */
  catalog(): Promise<ResourceCatalog>
}

/** Connects, runs `action`, and closes the connections again. */
export async function withSession<R>(
  host: Host,
  flags: ConnectionFlags,
  action: (session: Session) => Promise<R>,
): Promise<R> {
  const { environment } = host
  const config = await loadKubeconfig(await kubeconfigPaths(host, flags.kubeconfig))
  const { namespace, ...connection } = await connectionOf(config, {
    ...(flags.context === undefined ? {} : { context: flags.context }),
    clock: environment.clock,
  })
  const client = createHttpClient({ ...environment, ...connection })
  let catalog: Promise<ResourceCatalog> | undefined
  try {
    return await action({
      client,
      namespace: flags.namespace ?? namespace,
      givenNamespace: flags.namespace,
      catalog() {
        catalog ??= client.discover().then((resources) => new ResourceCatalog(resources))
        return catalog
      },
    })
  } finally {
    await client.close()
  }
}

/** Directory in which `coracle up` keeps everything unless told otherwise. */
export const defaultDataDirectory = '.coracle'

/** The flag, then KUBECONFIG, then the cluster started in this directory, then kubectl's own. */
async function kubeconfigPaths(host: Host, flag: string | undefined): Promise<readonly string[]> {
  if (flag !== undefined) return [resolve(host.workingDirectory, flag)]
  const named = (host.variables.KUBECONFIG ?? '').split(delimiter).filter((path) => path !== '')
  if (named.length > 0) return named.map((path) => resolve(host.workingDirectory, path))
  const local = join(host.workingDirectory, defaultDataDirectory, 'kubeconfig')
  if (await exists(local)) return [local]
  const own = join(host.homeDirectory, '.kube', 'config')
  if (await exists(own)) return [own]
  throw new CliError('no cluster is known here: start one with `coracle up`, or name a kubeconfig with --kubeconfig')
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch {
    return false
  }
}
