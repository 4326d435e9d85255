import { statfs } from 'node:fs/promises'
import type { Decoded } from '@coracle/environment/grpc'
import {
  type Image,
  type ImageFileSystem,
  ImagePullError,
  type ImageService,
  type RegistryCredentials,
  RuntimeUnavailableError,
} from '../runtime.ts'
import { type CriCalls, CriError, criCodes, isNotFound } from './calls.ts'
import type { imageStatusResponse } from './messages.ts'

/** The images of a runtime, through CRI's ImageService. */
export class CriImages implements ImageService {
  readonly recordsDirectory: string
  readonly #calls: CriCalls

  constructor(calls: CriCalls, recordsDirectory: string) {
    this.#calls = calls
    this.recordsDirectory = recordsDirectory
  }

  async list(): Promise<readonly Image[]> {
    const { images } = await this.#calls.listImages({})
    return images.map(imageOf)
  }

  async status(image: string): Promise<Image | undefined> {
    const { image: found } = await this.#calls.imageStatus({ image: { image } })
    return found === undefined ? undefined : imageOf(found)
  }

  async pull(image: string, credentials: RegistryCredentials | undefined, signal: AbortSignal): Promise<string> {
    const request = { image: { image }, ...(credentials === undefined ? {} : { auth: credentials }) }
    try {
      const { imageRef } = await this.#calls.pullImage(request, {
        timeoutMs: Number.POSITIVE_INFINITY,
        signal,
      })
      return imageRef
    } catch (error) {
      // As upstream: of an unknown error its code says nothing, and its words may begin with a reason.
      if (error instanceof CriError && error.code === criCodes.unknown) throw new ImagePullError(error.details)
      if (error instanceof CriError || error instanceof RuntimeUnavailableError) throw new ImagePullError(error.message)
      throw error
    }
  }

  async remove(id: string): Promise<void> {
    try {
      await this.#calls.removeImage({ image: { image: id } })
    } catch (error) {
      if (!isNotFound(error)) throw error
    }
  }

  async fileSystem(): Promise<ImageFileSystem> {
    const { imageFilesystems } = await this.#calls.imageFsInfo({})
    const path = imageFilesystems[0]?.fsId?.mountpoint ?? ''
    if (path === '') throw new Error('the container runtime does not say where its images are')
    const { blocks, bavail, bsize } = await statfs(path)
    return { path, capacityBytes: blocks * bsize, availableBytes: bavail * bsize }
  }
}

function imageOf(found: NonNullable<Decoded<typeof imageStatusResponse>['image']>): Image {
  const { id, repoTags, repoDigests, size, uid, username, pinned } = found
  return {
    id,
    repoTags,
    repoDigests,
    sizeBytes: size,
    ...(uid === undefined ? {} : { uid: uid.value }),
    ...(username === '' ? {} : { username }),
    pinned,
  }
}
