import { X509Certificate } from 'node:crypto'
import { type ConfigMap, clusterInfo, configMaps, isSignedWith, parseBootstrapToken, publicKeyHash } from '@coracle/api'
import { createHttpClient, parseKubeconfig } from '@coracle/client'
import { type Environment, sleep } from '@coracle/environment'

/** Waits between looks for what is not there yet, such as the signature of a token that was just made. */
const lookAgainMs = 500
/** How long it is waited for that. */
const patienceMs = 10_000

/** What a machine that is to join a cluster has been told. */
export interface JoinOrder {
  /** `https://10.0.0.1:6443` */
  readonly server: string
  readonly token: string
  /** `sha256:…` of the public key of the cluster's authority; one of them has to be right. */
  readonly caCertHashes: readonly string[]
  /** Believes whoever answers, where there is no hash: who knows the token could stand in for the cluster. */
  readonly skipsCaVerification: boolean
}

/** A machine cannot join: what it was told is wrong, or does not fit the cluster it has found. */
export class JoinError extends Error {
  override readonly name = 'JoinError'
}

/**
 * The authority of a cluster, as PEM, by what kubeadm calls token discovery: whoever answers shows a kubeconfig signed with the token,
 * whose authority has the hash that one was told, and then speaks under that authority and shows the same. Rejects with a JoinError where
 * something of that does not hold.
 */
export async function discoverCluster(
  order: JoinOrder,
  environment: Environment,
  signal: AbortSignal,
): Promise<string> {
  const caPem = await ofKubeconfig(await signedKubeconfig(order, undefined, environment, signal))
  checkHash(caPem, order)
  // Until here anybody may have answered. Who speaks under the authority is the cluster.
  if ((await ofKubeconfig(await signedKubeconfig(order, caPem, environment, signal))) === caPem) return caPem
  throw new JoinError(`${order.server} shows one authority to who trusts anybody and another to who trusts that`)
}

/** Throws a JoinError where an order to join cannot be carried out, whatever the cluster says. */
export function checkOrder({ token, caCertHashes, skipsCaVerification }: JoinOrder): void {
  if (parseBootstrapToken(token) === undefined) {
    throw new JoinError('the token must be of the form "[a-z0-9]{6}.[a-z0-9]{16}": coracle token create makes one')
  }
  const wrong = caCertHashes.find((hash) => !/^sha256:[0-9a-f]{64}$/i.test(hash))
  if (wrong !== undefined)
    throw new JoinError(`${JSON.stringify(wrong)} is no hash of an authority: sha256: and 64 hex digits`)
  if (caCertHashes.length > 0 || skipsCaVerification) return
  throw new JoinError(
    'give --discovery-token-ca-cert-hash, as coracle token create --print-join-command shows it, or --discovery-token-unsafe-skip-ca-verification',
  )
}

function checkHash(caPem: string, { caCertHashes, server }: JoinOrder): void {
  if (caCertHashes.length === 0) return
  const found = publicKeyHash(caPem)
  if (caCertHashes.some((hash) => hash.toLowerCase() === found)) return
  throw new JoinError(`the authority of ${server} has the hash ${found}, and not ${caCertHashes.join(' or ')}`)
}

/** The kubeconfig that a server shows, signed with the token. `caPem`: who the server has to be vouched for by; undefined: anybody. */
async function signedKubeconfig(
  { server, token }: JoinOrder,
  caPem: string | undefined,
  environment: Environment,
  signal: AbortSignal,
): Promise<string> {
  const { id = '', secret = '' } = parseBootstrapToken(token) ?? {}
  const trust = caPem === undefined ? { insecureSkipTlsVerify: true } : { ca: caPem }
  const client = createHttpClient({ server, ...trust, ...environment })
  const { clock } = environment
  const endMs = clock.monotonicMs() + patienceMs
  try {
    for (;;) {
      const info = await client.get(configMaps, clusterInfo, { signal })
      const { content, signature } = partsOf(info, id)
      if (signature !== undefined) {
        if (isSignedWith(content, id, secret, signature)) return content
        throw new JoinError(`what ${server} says is not signed with this token: is its second part right?`)
      }
      if (clock.monotonicMs() >= endMs) {
        throw new JoinError(
          `${server} knows no token ${id}, or it has expired: coracle token list shows those there are, coracle token create makes one`,
        )
      }
      await sleep(clock, lookAgainMs, signal)
    }
  } finally {
    await client.close()
  }
}

function partsOf({ data = {} }: ConfigMap, id: string) {
  return { content: data[clusterInfo.key] ?? '', signature: data[`${clusterInfo.signaturePrefix}${id}`] }
}

/** The authority that the only cluster of a kubeconfig has. */
async function ofKubeconfig(text: string): Promise<string> {
  const { clusters } = await parseKubeconfig(text, 'cluster-info')
  const [cluster] = clusters.values()
  const data = cluster?.fields['certificate-authority-data']
  if (typeof data !== 'string') throw new JoinError('the server names no authority: it cannot be joined by a token')
  const pem = Buffer.from(data, 'base64').toString()
  return new X509Certificate(pem).toString()
}
