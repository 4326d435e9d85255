import { randomInt } from 'node:crypto'
import {
  type BootstrapToken,
  bootstrapTokenNamespace,
  bootstrapTokenOf,
  bootstrapTokenPrefix,
  bootstrapTokenSecret,
  bootstrapTokenType,
  clusterInfo,
  configMaps,
  formatTime,
  hasReason,
  humanDuration,
  isBootstrapGroup,
  nodeBootstrappersGroup,
  parseBootstrapToken,
  publicKeyHash,
  secrets,
} from '@coracle/api'
import type { Client } from '@coracle/client'
import { parseKubeconfig } from '@coracle/client'
import { CliError } from '../cli-error.ts'
import type { Host } from '../host.ts'
import { alignTabs, tableAlignment } from '../output/align.ts'
import { type ConnectionFlags, withSession } from '../session.ts'

export interface TokenCreateFlags extends ConnectionFlags {
  readonly printJoinCommand?: boolean
  /** In milliseconds; 0: it does not end. */
  readonly ttl: number
  readonly description?: string
  readonly usages?: readonly string[]
  readonly groups?: readonly string[]
}

const usagesThereAre = ['signing', 'authentication']
const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** `coracle token create [TOKEN]` */
export async function tokenCreate(host: Host, text: string | undefined, flags: TokenCreateFlags): Promise<void> {
  const given = text ?? `${randomText(6)}.${randomText(16)}`
  const parts = parseBootstrapToken(given)
  if (parts === undefined) {
    throw new CliError(`the bootstrap token ${JSON.stringify(given)} was not of the form "[a-z0-9]{6}.[a-z0-9]{16}"`)
  }
  const { usages = usagesThereAre, groups = [nodeBootstrappersGroup], description = '', ttl } = flags
  const unknown = usages.find((usage) => !usagesThereAre.includes(usage))
  if (unknown !== undefined) throw new CliError(`--usages: ${unknown} is none: there are ${usagesThereAre.join(', ')}`)
  const wrong = groups.find((group) => !isBootstrapGroup(group))
  if (wrong !== undefined) throw new CliError(`--groups: ${wrong} must begin with system:bootstrappers:`)
  if (ttl < 0) throw new CliError('--ttl is less than no time: give how long the token is good for, or 0 for no end')
  const expiration = ttl === 0 ? '' : formatTime(host.environment.clock.now() + ttl)
  const secret = bootstrapTokenSecret({ ...parts, description, expiration, usages, groups })
  await withSession(host, flags, async ({ client }) => {
    await client.create(secrets, secret).catch((error: unknown) => {
      if (!hasReason(error, 'AlreadyExists')) throw error
      throw new CliError(`a token with id ${JSON.stringify(parts.id)} already exists`)
    })
    host.stdout.write(`${flags.printJoinCommand === true ? await joinCommand(host, client, given) : given}\n`)
  })
}

/** `coracle token list` */
export async function tokenList(host: Host, flags: ConnectionFlags): Promise<void> {
  await withSession(host, flags, async ({ client }) => {
    const { items } = await client.list(secrets, {
      namespace: bootstrapTokenNamespace,
      fieldSelector: `type=${bootstrapTokenType}`,
    })
    const now = host.environment.clock.now()
    const rows = items.flatMap((secret) => {
      const token = bootstrapTokenOf(secret)
      return token === undefined ? [] : [rowOf(token, now)]
    })
    const header = ['TOKEN', 'TTL', 'EXPIRES', 'USAGES', 'DESCRIPTION', 'EXTRA GROUPS']
    const text = [header, ...rows].map((row) => row.join('\t')).join('\n')
    host.stdout.write(`${alignTabs(text, tableAlignment)}\n`)
  })
}

/** `coracle token delete TOKEN…` */
export async function tokenDelete(host: Host, tokens: readonly string[], flags: ConnectionFlags): Promise<void> {
  const ids = tokens.map((text) => {
    const id = parseBootstrapToken(text)?.id ?? text
    if (/^[a-z0-9]{6}$/.test(id)) return id
    throw new CliError(`${JSON.stringify(text)} is neither a token nor the first part of one`)
  })
  await withSession(host, flags, async ({ client }) => {
    for (const id of ids) {
      const key = { namespace: bootstrapTokenNamespace, name: `${bootstrapTokenPrefix}${id}` }
      await client.delete(secrets, key).catch((error: unknown) => {
        if (!hasReason(error, 'NotFound')) throw error
        throw new CliError(`there is no bootstrap token ${JSON.stringify(id)}`)
      })
      host.stdout.write(`bootstrap token ${JSON.stringify(id)} deleted\n`)
    }
  })
}

function rowOf(token: BootstrapToken, now: number): readonly string[] {
  const { id, secret, expiresAtMs, authenticates, signs, description, extraGroups = [] } = token
  const usages = [...(authenticates ? ['authentication'] : []), ...(signs ? ['signing'] : [])]
  const isOver = expiresAtMs !== undefined && expiresAtMs <= now
  return [
    `${id}.${secret}`,
    expiresAtMs === undefined ? '<forever>' : isOver ? '<invalid>' : humanDuration(expiresAtMs - now),
    expiresAtMs === undefined || !Number.isFinite(expiresAtMs) ? '<never>' : formatTime(expiresAtMs),
    usages.join(',') || '<none>',
    description || '<none>',
    extraGroups.join(',') || '<none>',
  ]
}

/** The command that a machine is to run: it carries all that is needed to know this cluster. */
async function joinCommand(host: Host, client: Client, token: string): Promise<string> {
  const info = await client.get(configMaps, clusterInfo)
  const { clusters } = await parseKubeconfig(info.data?.[clusterInfo.key] ?? '', clusterInfo.name)
  const fields = [...clusters.values()][0]?.fields ?? {}
  const [server, ca] = [String(fields.server ?? ''), String(fields['certificate-authority-data'] ?? '')]
  const { hostname } = new URL(server)
  if (hostname.startsWith('127.') || hostname === '[::1]') {
    host.stderr.write(
      'warning: the server listens on loopback, where no other machine reaches it: start it with --listen 0.0.0.0\n',
    )
  }
  const hash = publicKeyHash(Buffer.from(ca, 'base64').toString())
  return `coracle agent ${server} --token ${token} --discovery-token-ca-cert-hash ${hash}`
}

const randomText = (length: number): string =>
  Array.from({ length }, () => alphabet[randomInt(alphabet.length)]).join('')
