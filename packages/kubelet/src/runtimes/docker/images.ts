import { type CriAnswer, type CriCalls, CriError, type CriRequest, criCodes, isNotFound } from '../cri/calls.ts'
import type { InspectedImage, ListedImage, ProgressMessage } from './answers.ts'
import { imageId } from './container-requests.ts'
import type { Engine } from './engine.ts'

type Limits = Parameters<CriCalls['pullImage']>[1]

/** The images of an engine. */
export class EngineImages {
  readonly #engine: Engine
  /** Of what sandboxes are made, which stays. */
  readonly #infraImage: string

  constructor(engine: Engine, infraImage: string) {
    this.#engine = engine
    this.#infraImage = infraImage
  }

  async list(): Promise<CriAnswer<'listImages'>> {
    const found = await this.#engine.list<ListedImage>({ path: '/images/json' })
    return { images: found.map((each) => this.#described(each)) }
  }

  /** Undefined where there is none. */
  async find(image: string): Promise<InspectedImage | undefined> {
    try {
      return await this.#engine.call<InspectedImage>({ path: `/images/${pathOf(image)}/json` })
    } catch (error) {
      if (isNotFound(error)) return undefined
      throw error
    }
  }

  async status(image: string): Promise<CriAnswer<'imageStatus'>> {
    const found = await this.find(image)
    if (found === undefined) return {}
    return { image: { ...this.#described(found), ...userOf(found.Config?.User ?? '') } }
  }

  /** Rejects in the engine's words. */
  async pull({ image, auth }: CriRequest<'pullImage'>, limits: Limits = {}): Promise<string> {
    const name = image?.image ?? ''
    const [repository, tag] = splitName(name)
    const headers: Readonly<Record<string, string>> = auth === undefined ? {} : { 'X-Registry-Auth': encodedAuth(auth) }
    try {
      for await (const { error, errorDetail } of this.#engine.messages<ProgressMessage>({
        method: 'POST',
        path: '/images/create',
        query: { fromImage: repository, tag },
        headers,
        signal: limits.signal,
      })) {
        if (error !== undefined) throw new CriError(criCodes.unknown, errorDetail?.message ?? error)
      }
    } catch (error) {
      // What is not found is the registry's image, not something of the engine's.
      if (error instanceof CriError) throw new CriError(criCodes.unknown, error.details)
      throw error
    }
    const found = await this.find(name)
    if (found === undefined) throw new CriError(criCodes.unknown, `${name} is not there after it was pulled`)
    return imageId(found.Id)
  }

  /** Takes all names of an image away, and it goes with the last. */
  async remove(image: string): Promise<void> {
    const found = await this.find(image)
    if (found === undefined) return
    for (const name of [...namesIn(found.RepoTags), ...namesIn(found.RepoDigests), found.Id]) {
      try {
        await this.#engine.call({ method: 'DELETE', path: `/images/${pathOf(name)}` })
      } catch (error) {
        if (!isNotFound(error)) throw error
      }
    }
  }

  #described({ Id, RepoTags, RepoDigests, Size }: ListedImage) {
    const repoTags = namesIn(RepoTags)
    return {
      id: imageId(Id),
      repoTags,
      repoDigests: namesIn(RepoDigests),
      size: Size,
      pinned: repoTags.includes(this.#infraImage),
    }
  }
}

/** What an image resolved to, as statuses show it: with its registry where it came from one. */
export const resolvedName = ({ Id, RepoDigests }: Pick<InspectedImage, 'Id' | 'RepoDigests'>): string =>
  namesIn(RepoDigests).find((name) => !name.startsWith('localhost/')) ?? imageId(Id)

/** Engines show what has no name as `<none>`. */
const namesIn = (names: readonly string[] | null): readonly string[] =>
  (names ?? []).filter((name) => !name.includes('<none>'))

const pathOf = (image: string): string => image.split('/').map(encodeURIComponent).join('/')

/** A name without its tag, and the tag: engines pull all tags where none is named. One with a digest stays whole. */
export function splitName(name: string): readonly [repository: string, tag: string | undefined] {
  if (name.includes('@')) return [name, undefined]
  const colon = name.lastIndexOf(':')
  return colon > name.lastIndexOf('/') ? [name.slice(0, colon), name.slice(colon + 1)] : [name, 'latest']
}

function userOf(user: string) {
  const [name = ''] = user.split(':')
  if (name === '') return {}
  return /^\d+$/.test(name) ? { uid: { value: Number(name) } } : { username: name }
}

function encodedAuth(auth: NonNullable<CriRequest<'pullImage'>['auth']>): string {
  const [user = '', ...password] = Buffer.from(auth.auth, 'base64').toString('utf8').split(':')
  const text = JSON.stringify({
    username: auth.username || user,
    password: auth.password || password.join(':'),
    serveraddress: auth.serverAddress,
    identitytoken: auth.identityToken,
    registrytoken: auth.registryToken,
  })
  // Docker wants it padded, which Node.js leaves out for URLs.
  return Buffer.from(text).toString('base64').replaceAll('+', '-').replaceAll('/', '_')
}
