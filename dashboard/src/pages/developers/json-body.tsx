import { CodeBlock } from '../../components/code-block.tsx'
import { Disclosure } from '../../components/disclosure.tsx'
import { formatJson } from '../../format/json-text.ts'

/** A body as it travels, laid out for reading; byte for byte, as signatures take it, it is at hand. */
export function JsonBody({ what, text }: { readonly what: string; readonly text: string }) {
  return (
    <div className="grid gap-2">
      <CodeBlock what={what} copied="the body" code={formatJson(text)} />
      <Disclosure summary="Byte for byte, as it is signed">
        <CodeBlock what="The bytes" copied="the bytes" code={text} />
      </Disclosure>
    </div>
  )
}
