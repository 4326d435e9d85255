import { type Pod, parseTime, serviceAccounts, type TokenRequest } from '@coracle/api'
import type { Client } from '@coracle/client'
import type { Environment, Time } from '@coracle/environment'
import { podUidOf } from '../pod/pod-name.ts'

/** What a token is to be like: for whom (the API server unless set), and how long it should live. */
export interface WantedToken {
  readonly audience?: string | undefined
  readonly expirationSeconds: number
}

/** A token is renewed when this part of its life is over, or this time, whichever is first: as upstream's kubelet does. */
const renewalPart = 0.8
const renewalMaxMs = 86_400_000

interface KeptToken {
  readonly token: string
  readonly issuedMs: Time
  readonly expiresMs: Time
}

/**
 * Tokens of the accounts that pods of a node run as, bound to the pods. Each is asked for once, kept, and asked for again when
 * it is time to; of a pod there are as many as its volumes name.
 */
export class PodTokens {
  readonly #client: Client
  readonly #environment: Pick<Environment, 'clock' | 'logger'>
  readonly #kept = new Map<string, Map<string, KeptToken>>()

  /** `client` acts as the node: a node may ask for tokens of the accounts of its own pods. */
  constructor(client: Client, environment: Pick<Environment, 'clock' | 'logger'>) {
    this.#client = client
    this.#environment = environment
  }

  /** A token that is good now. Rejects where there is none to be had. */
  async token(pod: Pod, wanted: WantedToken): Promise<string> {
    const { clock, logger } = this.#environment
    const uid = podUidOf(pod)
    const key = JSON.stringify([pod.spec.serviceAccountName, wanted.audience ?? '', wanted.expirationSeconds])
    const known = this.#kept.get(uid)?.get(key)
    if (known !== undefined && !isDue(known, clock.now())) return known.token
    try {
      const fresh = await this.#ask(pod, wanted)
      const ofPod = this.#kept.get(uid) ?? new Map<string, KeptToken>()
      this.#kept.set(uid, ofPod.set(key, fresh))
      return fresh.token
    } catch (error) {
      if (known === undefined || clock.now() >= known.expiresMs) throw error
      logger.warn('a token could not be renewed, and is good a while yet', { pod: uid, error: String(error) })
      return known.token
    }
  }

  /** Forgets the tokens of a pod that is gone. */
  forget(podUid: string): void {
    this.#kept.delete(podUid)
  }

  async #ask(pod: Pod, { audience, expirationSeconds }: WantedToken): Promise<KeptToken> {
    const { namespace = '', name = '' } = pod.metadata
    const request: TokenRequest = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: {},
      spec: {
        audiences: audience ? [audience] : [],
        expirationSeconds,
        boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid: podUidOf(pod) },
      },
    }
    const account = { namespace, name: pod.spec.serviceAccountName ?? '' }
    const answer = (await this.#client.createSubresource(serviceAccounts, account, 'token', request)) as TokenRequest
    const { token = '', expirationTimestamp = '' } = answer.status ?? {}
    const expiresMs = parseTime(expirationTimestamp)
    return { token, expiresMs, issuedMs: expiresMs - (answer.spec.expirationSeconds ?? expirationSeconds) * 1000 }
  }
}

/** Also one that is of the future: the clock was set back. */
function isDue({ issuedMs, expiresMs }: KeptToken, nowMs: Time): boolean {
  const renewalMs = Math.min((expiresMs - issuedMs) * renewalPart, renewalMaxMs)
  return nowMs >= issuedMs + renewalMs || nowMs < issuedMs
}
