import { type Environment, realEnvironment } from '@coracle/environment'
import type { Store } from './store.ts'

/** Keys and certificates for etcd, as PEM. */
export interface EtcdTls {
  /** Who etcd's certificate must come from: the system's authorities unless given. */
  readonly ca?: Buffer | undefined
  /** What this process shows to etcd, and the key for it. */
  readonly certificate?: Buffer | undefined
  readonly key?: Buffer | undefined
}

export interface EtcdStoreOptions {
  /** The members of one etcd cluster, each `host:port`. Any will do; the others are for when it fails. */
  readonly servers: readonly string[]
  /** Begins all keys of the store in etcd, so that several can share one. Nothing by default. */
  readonly prefix?: string
  /** How many notes of transactions are kept. Whoever asks to forget some sees to it, for all who share them. */
  readonly notesMax?: number
  /** Absent: without encryption. */
  readonly tls?: EtcdTls | undefined
  /** Where etcd asks for a name and a password. */
  readonly user?: { readonly name: string; readonly password: string } | undefined
  /** Lends the clock and the logger. The host's own unless given. */
  readonly environment?: Environment
}

/**
 * A store in an etcd cluster, which any number of processes share. Rejects with a `StoreUnavailableError` where no server
 * can be reached, or lets this user in.
 *
 * What talks to etcd is loaded here, so that those who need none do not pay for it.
 */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<Store> {
  const { EtcdStore } = await import('./etcd/store.ts')
  const store = new EtcdStore({ ...options, environment: options.environment ?? realEnvironment() })
  try {
    await store.latest()
  } catch (error) {
    await store.close()
    throw error
  }
  return store
}
