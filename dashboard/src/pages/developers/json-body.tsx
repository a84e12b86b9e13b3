import { CodeBlock } from '../../components/code-block.tsx'
import { Disclosure } from '../../components/disclosure.tsx'
import { formatJson } from '../../format/format-json.ts'

/** A JSON body, formatted for reading. The exact bytes, which the signature covers, are in a disclosure below. */
export function JsonBody({ what, text }: { readonly what: string; readonly text: string }) {
  return (
    <div className="grid gap-2">
      <CodeBlock what={what} copied="the body" code={formatJson(text)} />
      <Disclosure summary="Exact bytes, as signed">
        <CodeBlock what="Exact bytes" copied="the bytes" code={text} />
      </Disclosure>
    </div>
  )
}
