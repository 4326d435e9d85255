import type { Host } from '../host.ts'

/** An answer longer than this is none. */
const answerLengthMax = 1024

/** Asks a question that is answered by `y` or something else, and resolves to whether it was `y`. */
export async function confirm({ stdout, input }: Host, question: string): Promise<boolean> {
  stdout.write(`${question} (y/N): `)
  const { stream, close } = input.open()
  let text = ''
  try {
    for await (const chunk of stream) {
      text += String(chunk)
      if (text.includes('\n') || text.length > answerLengthMax) break
    }
  } finally {
    close()
  }
  const [answer = ''] = text.split('\n', 1)
  return answer.trim().toLowerCase() === 'y'
}
