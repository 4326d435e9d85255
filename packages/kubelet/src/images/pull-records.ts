import { createHash } from 'node:crypto'
import { mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ImageService } from '../runtimes/runtime.ts'
import { type PullSecret, repositoryOf } from './registry-credentials.ts'

/** Secrets that are remembered of an image by being looked at: more are asked of its registry. */
const secretsMax = 100

/** Who may use an image by one of its names. */
interface Access {
  /** It was to be had without credentials. */
  readonly nodePodsAccessible?: boolean
  /** Those with which it was to be had. */
  readonly kubernetesSecrets?: readonly PullSecret[]
}

/** What is known of an image that the node agent has pulled. */
interface PulledRecord {
  readonly imageRef: string
  /** By the name of its repository. */
  readonly credentialMapping: Readonly<Record<string, Access>>
}

const known = new WeakMap<ImageService, PullRecords>()

/** What is known of who may use the images of a runtime; undefined where nothing is kept of that. */
export function pullRecordsOf(images: ImageService): PullRecords | undefined {
  if (images.recordsDirectory === undefined) return undefined
  const records = known.get(images) ?? new PullRecords(images.recordsDirectory)
  known.set(images, records)
  return records
}

/**
 * By whom images were pulled: one that took a secret is for pods that have that secret, or whose own is good for it, though it lies on the node
 * for all (KEP-2535). Images that somebody else has brought there are for all. It is on disk before a pull begins that there is one.
 */
export class PullRecords {
  readonly #pulled: string
  readonly #pulling: string
  readonly #underWay = new Map<string, number>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(directory: string) {
    this.#pulled = join(directory, 'pulled')
    this.#pulling = join(directory, 'pulling')
  }

  /** An image is about to be pulled: `ends` is to be called when it is, or not. Rejects where that cannot be kept. */
  begins(image: string): Promise<void> {
    return this.#inTurn(async () => {
      await writeWhole(this.#pulling, nameOf(image), { image })
      this.#underWay.set(image, (this.#underWay.get(image) ?? 0) + 1)
    })
  }

  ends(image: string): Promise<void> {
    return this.#inTurn(async () => {
      const left = (this.#underWay.get(image) ?? 1) - 1
      if (left > 0) return void this.#underWay.set(image, left)
      this.#underWay.delete(image)
      await rm(join(this.#pulling, nameOf(image)), { force: true })
    })
  }

  /** An image was pulled with credentials of this secret, or without any. */
  pulled(image: string, imageRef: string, secret: PullSecret | undefined): Promise<void> {
    return this.#inTurn(() => this.#note(image, imageRef, secret))
  }

  /** Whether a pod may use an image that is on the node. `secrets` are those of the pod that are for its registry; they are read where they matter. */
  async mayUse(image: string, imageRef: string, secrets: () => Promise<readonly PullSecret[]>): Promise<boolean> {
    const record = await this.#read(imageRef)
    // It may have been pulled, and the agent killed before it was written down by whom.
    if (record === undefined) return !(await isThere(join(this.#pulling, nameOf(image))))
    const { nodePodsAccessible, kubernetesSecrets = [] } = accessIn(record, image)
    if (nodePodsAccessible === true) return true
    for (const secret of await secrets()) {
      const isPlace = kubernetesSecrets.some((each) => isSamePlace(each, secret))
      const isContent = kubernetesSecrets.some(({ credentialHash }) => credentialHash === secret.credentialHash)
      if (!isPlace && !isContent) continue
      if (!(isPlace && isContent) && kubernetesSecrets.length < secretsMax) await this.pulled(image, imageRef, secret)
      return true
    }
    return false
  }

  /** Forgets images that are not on the node any more. `listedMs`: when it was asked which are; what was pulled since then stays. */
  async prune(imageRefs: ReadonlySet<string>, listedMs: number): Promise<void> {
    const wanted = new Set([...imageRefs].map(nameOf))
    for (const name of await readdir(this.#pulled).catch((): string[] => [])) {
      if (wanted.has(name)) continue
      await this.#inTurn(async () => {
        const path = join(this.#pulled, name)
        const { mtimeMs } = await stat(path)
        if (mtimeMs < listedMs) await rm(path, { force: true })
      })
    }
  }

  async #note(image: string, imageRef: string, secret: PullSecret | undefined): Promise<void> {
    const before = (await this.#read(imageRef)) ?? { imageRef, credentialMapping: {} }
    const { nodePodsAccessible, kubernetesSecrets = [] } = accessIn(before, image)
    if (nodePodsAccessible === true) return
    const others = secret && kubernetesSecrets.filter((each) => !isSamePlace(each, secret))
    const access: Access =
      secret === undefined ? { nodePodsAccessible: true } : { kubernetesSecrets: [...(others ?? []), secret] }
    const entries = Object.entries(before.credentialMapping).filter(([name]) => name !== repositoryOf(image))
    const credentialMapping = Object.fromEntries([...entries, [repositoryOf(image), access]])
    await writeWhole(this.#pulled, nameOf(imageRef), { imageRef, credentialMapping })
  }

  /** One that cannot be read says that it was pulled, and of nobody that he may use it. */
  async #read(imageRef: string): Promise<PulledRecord | undefined> {
    try {
      const text = await readFile(join(this.#pulled, nameOf(imageRef)), 'utf8')
      const { credentialMapping = {} }: Partial<PulledRecord> = JSON.parse(text)
      return { imageRef, credentialMapping }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      return { imageRef, credentialMapping: {} }
    }
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#last.then(work)
    this.#last = done.catch(() => {})
    return done
  }
}

const nameOf = (text: string): string => `sha256-${createHash('sha256').update(text).digest('hex')}`

const accessIn = ({ credentialMapping }: PulledRecord, image: string): Access => {
  const repository = repositoryOf(image)
  return (Object.hasOwn(credentialMapping, repository) ? credentialMapping[repository] : undefined) ?? {}
}

const isSamePlace = (a: PullSecret, b: PullSecret): boolean =>
  a.uid === b.uid && a.namespace === b.namespace && a.name === b.name

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    ({ code }: NodeJS.ErrnoException) => code !== 'ENOENT',
  )

/** It is whole or not there, also after a power cut. */
async function writeWhole(directory: string, name: string, value: object): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, name)
  // Such names are none that is looked for.
  const fresh = join(directory, `.${name}`)
  const file = await open(fresh, 'w', 0o600)
  try {
    await file.writeFile(JSON.stringify(value))
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(fresh, path)
}
