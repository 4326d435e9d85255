import { constants } from 'node:fs'
import { open } from 'node:fs/promises'

/** A file that has outgrown this is emptied first: whoever has it may have written to it. */
const bytesMax = 8 * 1024 * 1024

/**
 * Has a file hold a text and stay the same file, which others have mounted. One that holds it is left alone. Whoever reads at that moment may see parts of
 * both texts; what is left of a longer one is blank until the file is as long as the new one. Rejects where there is no file, unless it is to be made.
 */
export async function writeInPlace(
  path: string,
  text: string,
  { create }: { readonly create: boolean },
): Promise<void> {
  const file = await open(path, constants.O_RDWR | (create ? constants.O_CREAT : 0), 0o644)
  try {
    // For whomever the containers run as, whatever the umask of this process is.
    if (create) await file.chmod(0o644)
    const bytes = Buffer.from(text)
    let { size } = await file.stat()
    if (size === bytes.length && (await file.read(Buffer.alloc(size), 0, size, 0)).buffer.equals(bytes)) return
    if (size > bytesMax) {
      await file.truncate()
      size = 0
    }
    const blank = Buffer.alloc(Math.max(0, size - bytes.length), '\n')
    await file.writeFile(Buffer.concat([bytes, blank]))
    await file.truncate(bytes.length)
  } finally {
    await file.close()
  }
}
