import { UsageError } from '../cli-error.ts'
import { completionScripts, type Shell } from '../completion/scripts.ts'
import type { Host } from '../host.ts'

/** `coracle completion bash|zsh|fish`: prints what the shell reads to complete command lines */
export function printCompletionScript({ stdout }: Host, shell: string): void {
  if (!(shell in completionScripts)) {
    throw new UsageError(`Unsupported shell type ${JSON.stringify(shell)}.`)
  }
  stdout.write(completionScripts[shell as Shell])
}
