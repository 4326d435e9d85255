/** References to container images, read as go-containerregistry reads them. */
import { CelError } from '../errors.ts'
import { overload, traversalCost } from '../functions.ts'
import { Opaque } from '../values.ts'

interface ImageReference {
  readonly registry: string
  readonly repository: string
  /** Empty where a digest names the image. */
  readonly tag: string
  readonly digest: string
}
type Image = Opaque<ImageReference>

const defaultRegistry = 'index.docker.io'
const repositoryPattern = /^[a-z0-9_\-./]{2,255}$/
const tagPattern = /^[A-Za-z0-9_\-.]{1,128}$/
const digestPattern = /^sha256:[0-9a-f]{64}$/
/** A host, with a port if it has one. */
const registryPattern = /^[A-Za-z0-9.-]+(?::\d+)?$/

/** Undefined for what is no reference. */
function parseImage(text: string): ImageReference | undefined {
  const at = text.indexOf('@')
  const digest = at < 0 ? '' : text.slice(at + 1)
  if (at >= 0 && !digestPattern.test(digest)) return undefined
  const tagged = at < 0 ? text : text.slice(0, at)
  const colon = tagged.lastIndexOf(':')
  // A colon before a slash is that of a port.
  const hasTag = colon >= 0 && !tagged.slice(colon).includes('/')
  const tag = hasTag ? tagged.slice(colon + 1) : ''
  if (hasTag && !tagPattern.test(tag)) return undefined
  const named = parseRepository(hasTag ? tagged.slice(0, colon) : tagged)
  if (named === undefined) return undefined
  return digest === '' ? { ...named, tag: tag || 'latest', digest } : { ...named, tag: '', digest }
}

function parseRepository(name: string): Pick<ImageReference, 'registry' | 'repository'> | undefined {
  const slash = name.indexOf('/')
  const first = slash < 0 ? '' : name.slice(0, slash)
  const hasRegistry = first.includes('.') || first.includes(':') || first === 'localhost'
  const repository = hasRegistry ? name.slice(slash + 1) : name
  if (!repositoryPattern.test(repository) || repository.startsWith('/')) return undefined
  if (!hasRegistry || first === 'docker.io' || first === defaultRegistry) {
    // What stands in no namespace there is one of the library's.
    return { registry: defaultRegistry, repository: repository.includes('/') ? repository : `library/${repository}` }
  }
  return registryPattern.test(first) ? { registry: first, repository } : undefined
}

function image(text: string): Image {
  const reference = parseImage(text)
  if (reference === undefined) throw new CelError(`could not parse reference: ${text}`)
  return new Opaque('Image', reference, text)
}

export const images = [
  overload('isImage(string): bool', (text: string) => parseImage(text) !== undefined, traversalCost),
  overload('image(string): Image', image, traversalCost),
  overload('Image.containsDigest(): bool', ({ value }: Image) => value.digest !== ''),
  overload('Image.registry(): string', ({ value }: Image) => value.registry),
  overload('Image.repository(): string', ({ value }: Image) => value.repository),
  overload('Image.identifier(): string', ({ value }: Image) => value.digest || value.tag),
  overload('Image.tag(): string', ({ value }: Image) => value.tag),
  overload('Image.digest(): string', ({ value }: Image) => value.digest),
]
