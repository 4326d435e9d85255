import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { checkFormat, type Taint } from '@coracle/api'
import { connectionOf, loadKubeconfig } from '@coracle/client'
import { type Agent, type AgentOptions, JoinError, startAgent } from '@coracle/cluster/agent'
import { createLogger, type Environment, keepProcess, type LogLine } from '@coracle/environment'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { Progress } from '../output/progress.ts'
import type { ConnectionFlags } from '../session.ts'
import { type ContainerRuntimeFlags, containerRuntimeOf, refuseImages } from '../up/container-runtime-flags.ts'
import type { ImagesFlags } from '../up/images-flag.ts'
import { interruption } from '../up/interruption.ts'

export interface AgentFlags extends ConnectionFlags, ContainerRuntimeFlags, ImagesFlags {
  readonly discoveryTokenCaCertHash?: readonly string[]
  readonly discoveryTokenUnsafeSkipCaVerification?: boolean
  readonly hostnameOverride?: string
  readonly nodeIp?: string
  readonly address?: string
  readonly port: number
  readonly nodeLabels?: Readonly<Record<string, string>>
  readonly registerWithTaints?: readonly string[]
  readonly podManifestPath?: string
  readonly maxPods: number
  readonly dataDir?: string
  readonly serviceProxy: boolean
}

/** `coracle agent [SERVER]`: a node of a cluster that runs elsewhere, until it is interrupted. */
export async function agent(host: Host, server: string | undefined, flags: AgentFlags): Promise<void> {
  const { clock } = host.environment
  const progress = new Progress(host, 'starting')
  const tell = (line: string): void => host.stdout.write(`${line}\n`)
  const manager = host.variables.NOTIFY_SOCKET
    ? (await import('../up/service-manager.ts')).ownServiceManager(host)
    : undefined
  const options = await optionsOf(host, server, flags, (stage) => {
    progress.say(stage)
    if (!host.stderr.isTerminal) tell(stage)
  })
  // Its server may be one of its own pods: whoever waits for the service would end it before that is there.
  const runsByItself = flags.podManifestPath !== undefined
  const interrupted = interruption(host)
  const giveUp = new AbortController()
  void interrupted.then(() => giveUp.abort(new CliError('interrupted')))
  const letGo = keepProcess(clock)
  let running: Agent
  try {
    running = await startAgent(
      { ...options, ...(runsByItself ? { onRunning: () => void manager?.ready(`node ${options.nodeName}`) } : {}) },
      giveUp.signal,
    )
  } catch (error) {
    throw isExplained(error) ? new CliError(error.message) : error
  } finally {
    progress.end()
    letGo()
  }
  const { nodeName, address, port } = running
  const seconds = Math.round(clock.monotonicMs())
  tell(
    `node ${nodeName} is part of ${running.server}, at ${address}:${port}, after ${seconds} ms; Ctrl-C ends its agent, and its pods run on`,
  )
  const keep = keepProcess(clock)
  if (!runsByItself) void manager?.ready(`node ${nodeName} of ${running.server}`)
  await interrupted
  void manager?.stopping()
  tell('stopping')
  await running.stop({ containers: 'keep' })
  keep()
}

/** Whether the message of an error says what to do. */
const isExplained = (error: unknown): error is Error =>
  error instanceof JoinError || (error instanceof Error && error.name === 'CriRuntimeError')

/** The name of the node: that of the machine unless it is given. Throws where no node can have it. */
function nodeNameOf({ hostnameOverride }: AgentFlags): string {
  const name = (hostnameOverride ?? hostname()).toLowerCase()
  const [problem] = checkFormat('dns1123-subdomain', name)
  if (problem === undefined) return name
  throw new CliError(`no node can be named ${JSON.stringify(name)}: ${problem}; give another --hostname-override`)
}

async function optionsOf(
  host: Host,
  server: string | undefined,
  flags: AgentFlags,
  onProgress: (stage: string) => void,
): Promise<AgentOptions> {
  const { images: imagesFile, registerWithTaints = [], runtime = 'process' } = flags
  refuseImages(flags)
  if (flags.nodeIp !== undefined && isIP(flags.nodeIp) === 0) {
    throw new CliError(`--node-ip: ${JSON.stringify(flags.nodeIp)} is no IP address`)
  }
  const images =
    imagesFile === undefined
      ? undefined
      : (await import('../up/images-flag.ts')).imagesOf(flags, host.workingDirectory).images
  const taints = registerWithTaints.map(taintOf)
  return {
    environment: withLog(host),
    nodeName: nodeNameOf(flags),
    dataDir: resolve(host.workingDirectory, flags.dataDir ?? join('.coracle', 'agent')),
    runtime,
    port: flags.port,
    podsMax: flags.maxPods,
    proxiesServices: flags.serviceProxy,
    onProgress,
    ...containerRuntimeOf(flags, host.workingDirectory),
    ...(await wayOf(host, server, flags)),
    ...(images === undefined ? {} : { images }),
    ...(flags.podManifestPath === undefined
      ? {}
      : { manifestPath: resolve(host.workingDirectory, flags.podManifestPath) }),
    ...(flags.nodeIp === undefined ? {} : { nodeIp: flags.nodeIp }),
    ...(flags.address === undefined ? {} : { address: flags.address }),
    ...(flags.nodeLabels === undefined ? {} : { labels: flags.nodeLabels }),
    ...(taints.length === 0 ? {} : { taints }),
  }
}

/** How to get to the cluster: by a kubeconfig, by a token, or as before. */
async function wayOf(
  { workingDirectory, environment: { clock } }: Host,
  server: string | undefined,
  flags: AgentFlags,
): Promise<Pick<AgentOptions, 'connection' | 'join'>> {
  const { kubeconfig, token, discoveryTokenCaCertHash = [], discoveryTokenUnsafeSkipCaVerification = false } = flags
  if (kubeconfig !== undefined) {
    if (token !== undefined) throw new CliError('--kubeconfig and --token are two ways into a cluster: give one')
    const config = await loadKubeconfig([resolve(workingDirectory, kubeconfig)])
    return { connection: await connectionOf(config, { clock, ...(server === undefined ? {} : { server }) }) }
  }
  if (token === undefined) return {}
  if (server === undefined || !URL.canParse(server) || new URL(server).protocol !== 'https:') {
    throw new CliError('name the server to join, as https://10.0.0.1:6443')
  }
  return {
    join: {
      server: server.replace(/\/$/, ''),
      token,
      caCertHashes: discoveryTokenCaCertHash,
      skipsCaVerification: discoveryTokenUnsafeSkipCaVerification,
    },
  }
}

/** `key=value:Effect` */
function taintOf(text: string): Taint {
  const [, key, value, effect] = /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(text) ?? []
  if (key !== undefined && effect !== undefined) {
    return { key, ...(value === undefined || value === '' ? {} : { value }), effect: effect as Taint['effect'] }
  }
  throw new CliError(`--register-with-taints: ${text} is no taint: key=value:NoSchedule, PreferNoSchedule or NoExecute`)
}

/** The host's world, with a log for people: what goes wrong goes to standard error. */
function withLog({ environment, stderr }: Host): Environment {
  const print = ({ level, message, fields }: LogLine): void => {
    const about = Object.entries(fields).map(
      ([name, value]) => `${name}=${value instanceof Error ? value.message : value}`,
    )
    stderr.write(`${level === 'warn' ? 'warning' : level}: ${[message, ...about].join(' ')}\n`)
  }
  return { ...environment, logger: createLogger(print, 'warn') }
}
