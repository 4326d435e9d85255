/**
 * The longest argument, and the longest variable with its name: Linux takes no text of 128 KiB for a process
 * (MAX_ARG_STRLEN, which counts the NUL at its end), and runtimes need some room to hand it on.
 */
export const processTextBytesMax = 128 * 1024 - 64

/** The most that all variables of a container have together, and all its arguments: half of what Linux takes by default. */
export const processTextsBytesMax = 1024 * 1024

/** Adds up the texts of one kind that a process gets. `add` throws, and says which one it was, where they get too large. */
export class ProcessTexts {
  readonly #kind: string
  #bytes = 0

  /** `kind` is what they are together, for the message: `environment`. */
  constructor(kind: string) {
    this.#kind = kind
  }

  /** `about` names the text: `environment variable "A"`. It may take the place of one that was added before. */
  add(text: string, about: string, replaced = ''): void {
    const bytes = Buffer.byteLength(text)
    if (bytes > processTextBytesMax) throw new Error(tooLong(about))
    this.#bytes += bytes - Buffer.byteLength(replaced)
    if (this.#bytes > processTextsBytesMax)
      throw new Error(
        `${about} makes the ${this.#kind} larger than ${processTextsBytesMax} bytes: leave some of it out`,
      )
  }
}

/** What is said of a text that is longer than `processTextBytesMax`. */
export function tooLong(about: string): string {
  return `${about} is longer than ${processTextBytesMax} bytes, the most that a process takes in one piece`
}
