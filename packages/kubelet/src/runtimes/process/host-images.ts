import { isJsonObject } from '@coracle/api'
import type { ContainerConfig, EnvironmentVariable } from '../runtime.ts'

/** What an image runs, said in programs of this host: the part of an image's configuration that needs no file system of its own. */
export interface HostImage {
  /** The entry point, which a container's `command` replaces. */
  readonly command: readonly string[]
  /** What it gets where the container has neither `command` nor `args`. */
  readonly args: readonly string[]
  /** What the container's own environment stands over. */
  readonly env: readonly EnvironmentVariable[]
  /** A directory of this host. Absent: one of the container's own. */
  readonly workingDirectory?: string
}

/** Programs of this host by the names of the images that stand for them, as `canonicalName` writes them. */
export type HostImages = ReadonlyMap<string, HostImage>

/** How many images one host says something of. */
export const hostImagesMax = 10_000

/**
 * Reads what a host says of images: an object with the name of an image for each key, and `command`, `args`, `env` and `workingDir` as a
 * container has them for its value. Throws an error that names the field where it says something else.
 */
export function parseHostImages(said: unknown): HostImages {
  if (!isJsonObject(said)) throw new Error('must be an object with the names of images for keys')
  const entries = Object.entries(said)
  if (entries.length > hostImagesMax) throw new Error(`has ${entries.length} images: at most ${hostImagesMax}`)
  const images = new Map<string, HostImage>()
  for (const [name, image] of entries) {
    const key = canonicalName(name)
    if (images.has(key)) throw new Error(`"${name}": is said twice`)
    images.set(key, parseImage(name, image))
  }
  return images
}

/**
 * What a container runs, with what its image adds: as upstream's table of `command` and `args` against an image's ENTRYPOINT and CMD
 * (https://kubernetes.io/docs/tasks/inject-data-application/define-command-argument-container). One whose image nothing is said of
 * stays as it is.
 */
export function asImageSays(config: ContainerConfig, images: HostImages): ContainerConfig {
  const image = imageNamed(config.image, images)
  if (image === undefined) return config
  const { workingDirectory = image.workingDirectory } = config
  const own = new Set(config.env.map(({ name }) => name))
  return {
    ...config,
    ...(config.command.length > 0
      ? {}
      : { command: image.command, args: config.args.length > 0 ? config.args : image.args }),
    env: [...image.env.filter(({ name }) => !own.has(name)), ...config.env],
    ...(workingDirectory === undefined ? {} : { workingDirectory }),
  }
}

/** What is said of exactly this version of an image, or else of all versions. */
function imageNamed(name: string, images: HostImages): HostImage | undefined {
  if (images.size === 0) return undefined
  const { repository, version } = splitName(canonicalName(name))
  const [tag = '', digest] = version.split('@')
  const exact = [version, ...(digest === undefined ? [] : [`@${digest}`]), tag]
  for (const each of exact) {
    const found = each === '' ? undefined : images.get(repository + each)
    if (found !== undefined) return found
  }
  return images.get(repository)
}

/** The name with the registry and the folder that are meant where none is named: `nginx:1.29` is `docker.io/library/nginx:1.29`. */
function canonicalName(name: string): string {
  const { repository, version } = splitName(name)
  const [first = '', ...rest] = repository.split('/')
  const isRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')
  const [registry, path] = isRegistry ? [first, rest.join('/')] : ['docker.io', repository]
  const folder = registry === 'docker.io' && !path.includes('/') ? 'library/' : ''
  return `${registry}/${folder}${path}${version}`
}

/** `version` begins with the character that sets it apart: `:` of a tag or `@` of a digest. A colon before the last slash is that of a port. */
function splitName(name: string): { readonly repository: string; readonly version: string } {
  const at = /:[^/@]+(?:@.*)?$|@.*$/.exec(name)?.index ?? name.length
  return { repository: name.slice(0, at), version: name.slice(at) }
}

function parseImage(name: string, image: unknown): HostImage {
  const problem = (what: string) => new Error(`"${name}": ${what}`)
  if (!isJsonObject(image)) throw problem('must be an object with command, args, env and workingDir')
  const unknown = Object.keys(image).find((key) => !imageFields.has(key))
  if (unknown !== undefined) throw problem(`unknown field "${unknown}": there are ${[...imageFields].join(', ')}`)
  const { command = [], args = [], env = [], workingDir } = image
  if (!isTexts(command)) throw problem('command: must be a list of strings')
  if (!isTexts(args)) throw problem('args: must be a list of strings')
  if (command.length === 0 && args.length === 0) throw problem('command: must name a program of this host')
  if (!Array.isArray(env) || !env.every(isVariable)) throw problem('env: must be a list of objects with name and value')
  if (workingDir !== undefined && typeof workingDir !== 'string') throw problem('workingDir: must be a string')
  return { command, args, env, ...(workingDir === undefined ? {} : { workingDirectory: workingDir }) }
}

const imageFields: ReadonlySet<string> = new Set(['command', 'args', 'env', 'workingDir'])

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string')

const isVariable = (value: unknown): value is EnvironmentVariable =>
  isJsonObject(value) && typeof value.name === 'string' && typeof value.value === 'string'
