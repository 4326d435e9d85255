import type { Container, Pod, Secret } from '@coracle/api'
import { type Clock, keepProcess } from '@coracle/environment'
import type { Image, ImageService } from '../runtimes/runtime.ts'
import { ImagePullError } from '../runtimes/runtime.ts'
import { credentialsFor, type PullSecret, type SecretCredentials } from './registry-credentials.ts'

/** Images that are pulled at one time: others wait their turn (upstream's maxParallelImagePulls). */
export const parallelPullsMax = 5

/** A pull that is over. */
export interface Pulled {
  readonly imageRef: string
  /** The secret with which it was to be had; undefined: it takes none. */
  readonly secret: PullSecret | undefined
  readonly tookMs: number
  /** With the wait for its turn. */
  readonly tookInAllMs: number
  readonly sizeBytes: number
}

const pullers = new WeakMap<ImageService, ImagePuller>()

/** What pulls the images of a runtime: one, so that what is asked of it at one time is counted together. */
export function pullerOf(images: ImageService, clock: Clock): ImagePuller {
  const known = pullers.get(images)
  if (known !== undefined) return known
  const puller = new ImagePuller(images, clock)
  pullers.set(images, puller)
  return puller
}

/** Pulls the images of a node, so many at a time. */
export class ImagePuller {
  readonly #images: ImageService
  readonly #clock: Clock
  readonly #waiting: (() => void)[] = []
  #underWay = 0

  constructor(images: ImageService, clock: Clock) {
    this.#images = images
    this.#clock = clock
  }

  /**
   * Pulls an image with each of the credentials that fit its registry until one will do, or without any where none fits. Rejects with an
   * `ImagePullError` that tells of all, and with the signal's reason where that is aborted.
   */
  async pull(image: string, secrets: readonly Secret[], signal: AbortSignal): Promise<Pulled> {
    const askedMs = this.#clock.monotonicMs()
    await this.#takeTurn(signal)
    const release = keepProcess(this.#clock)
    try {
      signal.throwIfAborted()
      const beganMs = this.#clock.monotonicMs()
      const { imageRef, secret } = await this.#pullWithAny(image, credentialsFor(image, secrets), signal)
      const endedMs = this.#clock.monotonicMs()
      const found = await this.#images.status(imageRef)
      return {
        imageRef: found?.id ?? imageRef,
        secret,
        tookMs: endedMs - beganMs,
        tookInAllMs: endedMs - askedMs,
        sizeBytes: found?.sizeBytes ?? 0,
      }
    } finally {
      release()
      this.#giveTurn()
    }
  }

  async #pullWithAny(
    image: string,
    all: readonly SecretCredentials[],
    signal: AbortSignal,
  ): Promise<Pick<Pulled, 'imageRef' | 'secret'>> {
    if (all.length === 0) return { imageRef: await this.#images.pull(image, undefined, signal), secret: undefined }
    const problems: string[] = []
    for (const { credentials, source } of all) {
      try {
        return { imageRef: await this.#images.pull(image, credentials, signal), secret: source }
      } catch (error) {
        if (!(error instanceof ImagePullError)) throw error
        problems.push(error.message)
      }
    }
    const distinct = [...new Set(problems)]
    throw new ImagePullError(distinct.length === 1 ? distinct[0] : `[${distinct.join(', ')}]`)
  }

  /** Rejects with the signal's reason where that is aborted: a pull before it may take for ever. */
  async #takeTurn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    if (this.#underWay < parallelPullsMax) {
      this.#underWay += 1
      return
    }
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(begin), 1)
        reject(signal.reason)
      }
      const begin = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      this.#waiting.push(begin)
      signal.addEventListener('abort', leave, { once: true })
    })
  }

  #giveTurn(): void {
    const next = this.#waiting.shift()
    if (next === undefined) this.#underWay -= 1
    else next()
  }
}

/** Whether an image is pulled where it is on the node, or is not. Without a policy one that is there will do, unless it may change. */
export function isToBePulled(
  { imagePullPolicy, image = '' }: Pick<Container, 'image' | 'imagePullPolicy'>,
  isPresent: boolean,
): boolean {
  const policy = imagePullPolicy ?? (/:latest$/.test(image) ? 'Always' : 'IfNotPresent')
  return policy === 'Always' || (policy === 'IfNotPresent' && !isPresent)
}

/** An image by the name that runtimes know it by: one without a tag or digest is the latest. */
export function withTag(image: string): string {
  const name = image.slice(image.lastIndexOf('/') + 1)
  return name.includes(':') || name.includes('@') ? image : `${image}:latest`
}

/** A container's image that is on the node. */
export interface PresentImage {
  readonly imageRef: string
  readonly image: Image | undefined
}

/** The secrets that a pod names for registries, as far as they are there. */
export async function pullSecretsOf(
  { metadata, spec }: Pod,
  find: (namespace: string, name: string) => Promise<Secret | undefined>,
): Promise<readonly Secret[]> {
  const found = await Promise.all(
    (spec.imagePullSecrets ?? []).map(({ name = '' }) =>
      name === '' ? undefined : find(metadata.namespace ?? '', name).catch(() => undefined),
    ),
  )
  return found.filter((secret) => secret !== undefined)
}
