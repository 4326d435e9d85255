import { createHash } from 'node:crypto'
import { CriError, criCodes } from '../cri/calls.ts'
import type { ProgressMessage } from './answers.ts'
import type { Engine } from './engine.ts'
import type { EngineImages } from './images.ts'
import { pauseProgram } from './pause-program.ts'

/** The image that is made on the spot. */
export const ownImage = 'localhost/coracle-pause:1'
/** What there is for machines of which no program is known here. */
const upstreamImage = 'registry.k8s.io/pause:3.10.1'

/** What sandboxes are made of where nothing else is said: nothing that would have to be pulled, where that can be. */
export const infraImageDefault: string = pauseProgram(process.arch) === undefined ? upstreamImage : ownImage

/** Sees to it that the image of sandboxes is there. Rejects, and says what to do, where it cannot be had. */
export async function ensureInfraImage(engine: Engine, images: EngineImages, image: string): Promise<void> {
  if ((await images.find(image)) !== undefined) return
  try {
    if (image === ownImage) await load(engine, ownImageTar())
    else
      await images.pull({
        image: { image, annotations: {}, userSpecifiedImage: image },
        auth: undefined,
        sandboxConfig: undefined,
      })
  } catch (error) {
    if (!(error instanceof CriError)) throw error
    throw new CriError(
      criCodes.unknown,
      `the image of sandboxes ${image} cannot be had: ${error.details}: load it into the engine, or name another with --pod-infra-container-image`,
    )
  }
}

async function load(engine: Engine, tar: Buffer): Promise<void> {
  const path = '/images/load'
  for await (const { error } of engine.messages<ProgressMessage>({
    method: 'POST',
    path,
    query: { quiet: true },
    body: tar,
  }))
    if (error !== undefined) throw new CriError(criCodes.unknown, error)
}

/** An image with one file, as `docker save` writes images. */
export function ownImageTar(arch: string = process.arch): Buffer {
  const program = pauseProgram(arch)
  if (program === undefined) throw new Error(`there is no program for ${arch}`)
  const layer = tarOf([['pause', program, 0o755]])
  const config = Buffer.from(
    JSON.stringify({
      architecture: arch === 'x64' ? 'amd64' : arch,
      os: 'linux',
      config: { Entrypoint: ['/pause'] },
      rootfs: { type: 'layers', diff_ids: [`sha256:${digestOf(layer)}`] },
    }),
  )
  const configName = `${digestOf(config)}.json`
  const manifest = [{ Config: configName, RepoTags: [ownImage], Layers: ['layer.tar'] }]
  return tarOf([
    [configName, config, 0o644],
    ['layer.tar', layer, 0o644],
    ['manifest.json', Buffer.from(JSON.stringify(manifest)), 0o644],
  ])
}

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

const blockBytes = 512

/** An archive of files with short names, of nobody's and of no time. */
function tarOf(files: readonly (readonly [name: string, bytes: Buffer, mode: number])[]): Buffer {
  const blocks = files.flatMap(([name, bytes, mode]) => [
    tarHeader(name, bytes.length, mode),
    bytes,
    Buffer.alloc((blockBytes - (bytes.length % blockBytes)) % blockBytes),
  ])
  return Buffer.concat([...blocks, Buffer.alloc(2 * blockBytes)])
}

function tarHeader(name: string, size: number, mode: number): Buffer {
  const header = Buffer.alloc(blockBytes)
  const octal = (value: number, length: number) => `${value.toString(8).padStart(length - 1, '0')}\0`
  header.write(name, 0)
  header.write(octal(mode, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(size, 12), 124)
  header.write(octal(0, 12), 136)
  header.write('        ', 148)
  header.write('0', 156)
  header.write('ustar\0' + '00', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}
