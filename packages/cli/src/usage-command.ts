import { Command, type ErrorOptions } from 'commander'
import { refusalOf } from './refusals.ts'

/** A command that refuses what it is given in kubectl's words. */
export class UsageCommand extends Command {
  override createCommand(name?: string): UsageCommand {
    // Help is a command of the program alone.
    return new UsageCommand(name).helpCommand(false)
  }

  override error(message: string, options?: ErrorOptions): never {
    return super.error(`error: ${refusalOf(this, message, options?.code)}`, options)
  }
}
