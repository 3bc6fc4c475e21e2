import { type DragEvent, useId, useState } from 'react';

export function TextFileField({
  label,
  hint,
  placeholder,
  accept,
  onText,
}: {
  label: string;
  hint: string;
  placeholder: string;
  accept: string;
  onText: (text: string) => void;
}) {
  const id = useId();
  const [text, setText] = useState('');
  const use = (text: string) => {
    setText(text);
    if (text.trim() !== '') onText(text);
  };
  const read = async (file: File | undefined) => file && use(await file.text());
  const drop = (event: DragEvent) => {
    if (event.dataTransfer.files.length === 0) return;
    event.preventDefault();
    void read(event.dataTransfer.files[0]);
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea
        className="in mono"
        id={id}
        rows={4}
        value={text}
        placeholder={placeholder}
        spellCheck={false}
        autoComplete="off"
        aria-describedby={`${id}-hint`}
        onChange={(event) => use(event.target.value)}
        onDrop={drop}
        onDragOver={(event) => event.preventDefault()}
      />
      <div className="row">
        <label className="btn sm file">
          Choose a file
          <input
            type="file"
            accept={accept}
            onChange={({ target }) => {
              const file = target.files?.[0];
              // Without a value, choosing the same file again is a change, too.
              target.value = '';
              void read(file);
            }}
          />
        </label>
        <span className="hint" id={`${id}-hint`}>
          {hint}
        </span>
      </div>
    </div>
  );
}
