// The service of gRPC's interoperability tests on grpc-go, without TLS.
//
// Prints `listening ADDRESS` when it accepts calls, and ends when standard input does. Each call is a line on standard
// error, `received SERVICE/METHOD`, and another one, `canceled SERVICE/METHOD`, if the client cancels it or its deadline
// passes.
//
// scripts/debian-go compiles it with the code that protoc generates from interop.proto.
package main

import (
	"context"
	"fmt"
	"io"
	"io/ioutil"
	"log"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // Registers gzip.
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
)

const maxPayload = 64 << 20

type server struct {
	*UnimplementedTestServiceServer
}

// callKey is the key of a *call in the context of a call.
type callKey struct{}

// call states how the last message that a call received was sent. The library writes it before it gives the message to
// the handler, and the handler reads it before it receives the next one.
type call struct {
	method     string
	compressed bool
}

// watcher is notified of each message, and of the end of each call.
type watcher struct{}

func (watcher) TagRPC(ctx context.Context, info *stats.RPCTagInfo) context.Context {
	fmt.Fprintln(os.Stderr, "received", strings.TrimPrefix(info.FullMethodName, "/"))
	return context.WithValue(ctx, callKey{}, &call{method: info.FullMethodName})
}

func (watcher) HandleRPC(ctx context.Context, event stats.RPCStats) {
	state := ctx.Value(callKey{}).(*call)
	switch event := event.(type) {
	case *stats.InPayload:
		// Zeros are smaller when compressed.
		state.compressed = event.WireLength < event.Length
	case *stats.End:
		if ctx.Err() != nil && event.Error != nil {
			fmt.Fprintln(os.Stderr, "canceled", strings.TrimPrefix(state.method, "/"))
		}
	}
}

func (watcher) TagConn(ctx context.Context, info *stats.ConnTagInfo) context.Context { return ctx }
func (watcher) HandleConn(ctx context.Context, event stats.ConnStats)                {}

// checkCompression refuses a request that is not compressed as it states.
func checkCompression(ctx context.Context, expected *BoolValue) error {
	state := ctx.Value(callKey{}).(*call)
	if expected != nil && state.compressed != expected.Value {
		return status.Errorf(codes.InvalidArgument, "compressed: %v, expected: %v", state.compressed, expected.Value)
	}
	return nil
}

func payload(kind PayloadType, size int32) (*Payload, error) {
	if kind != PayloadType_COMPRESSABLE || size < 0 || size > maxPayload {
		return nil, status.Errorf(codes.InvalidArgument, "no payload of type %d with %d bytes", kind, size)
	}
	return &Payload{Type: kind, Body: make([]byte, size)}, nil
}

func requested(echo *EchoStatus) error {
	if echo != nil && echo.Code != 0 {
		return status.Error(codes.Code(echo.Code), echo.Message)
	}
	return nil
}

// echoMetadata sends back the two header fields that the tests of metadata send.
func echoMetadata(ctx context.Context, setHeader func(metadata.MD) error, setTrailer func(metadata.MD)) error {
	received, _ := metadata.FromIncomingContext(ctx)
	if values := received.Get("x-grpc-test-echo-trailing-bin"); len(values) > 0 {
		setTrailer(metadata.MD{"x-grpc-test-echo-trailing-bin": values})
	}
	if values := received.Get("x-grpc-test-echo-initial"); len(values) > 0 {
		return setHeader(metadata.MD{"x-grpc-test-echo-initial": values})
	}
	return nil
}

func echoOfUnary(ctx context.Context) error {
	setHeader := func(fields metadata.MD) error { return grpc.SetHeader(ctx, fields) }
	return echoMetadata(ctx, setHeader, func(fields metadata.MD) { grpc.SetTrailer(ctx, fields) })
}

func (server) EmptyCall(ctx context.Context, request *Empty) (*Empty, error) {
	return &Empty{}, echoOfUnary(ctx)
}

func (server) UnaryCall(ctx context.Context, request *SimpleRequest) (*SimpleResponse, error) {
	if err := echoOfUnary(ctx); err != nil {
		return nil, err
	}
	if err := checkCompression(ctx, request.ExpectCompressed); err != nil {
		return nil, err
	}
	if err := requested(request.ResponseStatus); err != nil {
		return nil, err
	}
	body, err := payload(request.ResponseType, request.ResponseSize)
	return &SimpleResponse{Payload: body}, err
}

func (server) CacheableUnaryCall(ctx context.Context, request *SimpleRequest) (*SimpleResponse, error) {
	grpc.SetHeader(ctx, metadata.Pairs("cache-control", "max-age=60, public"))
	now := strconv.FormatInt(time.Now().UnixNano(), 10)
	return &SimpleResponse{Payload: &Payload{Body: []byte(now)}}, nil
}

func (server) StreamingOutputCall(request *StreamingOutputCallRequest, stream TestService_StreamingOutputCallServer) error {
	return respond(request, stream.Context(), stream.Send)
}

func (server) StreamingInputCall(stream TestService_StreamingInputCallServer) error {
	sum := 0
	for {
		request, err := stream.Recv()
		if err == io.EOF {
			return stream.SendAndClose(&StreamingInputCallResponse{AggregatedPayloadSize: int32(sum)})
		}
		if err != nil {
			return err
		}
		if err := checkCompression(stream.Context(), request.ExpectCompressed); err != nil {
			return err
		}
		sum += len(request.GetPayload().GetBody())
	}
}

func (server) FullDuplexCall(stream TestService_FullDuplexCallServer) error {
	if err := echoMetadata(stream.Context(), stream.SendHeader, stream.SetTrailer); err != nil {
		return err
	}
	for {
		request, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := respond(request, stream.Context(), stream.Send); err != nil {
			return err
		}
	}
}

func (server) HalfDuplexCall(stream TestService_HalfDuplexCallServer) error {
	var requests []*StreamingOutputCallRequest
	for {
		request, err := stream.Recv()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		requests = append(requests, request)
	}
	for _, request := range requests {
		if err := respond(request, stream.Context(), stream.Send); err != nil {
			return err
		}
	}
	return nil
}

func respond(request *StreamingOutputCallRequest, ctx context.Context, send func(*StreamingOutputCallResponse) error) error {
	if err := requested(request.ResponseStatus); err != nil {
		return err
	}
	for _, wanted := range request.ResponseParameters {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(wanted.IntervalUs) * time.Microsecond):
		}
		body, err := payload(request.ResponseType, wanted.Size)
		if err != nil {
			return err
		}
		if err := send(&StreamingOutputCallResponse{Payload: body}); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	go func() {
		io.Copy(ioutil.Discard, os.Stdin)
		os.Exit(0)
	}()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	calls := grpc.NewServer(grpc.StatsHandler(watcher{}), grpc.MaxRecvMsgSize(maxPayload))
	RegisterTestServiceServer(calls, server{})
	reflection.Register(calls)
	fmt.Println("listening", listener.Addr())
	log.Fatal(calls.Serve(listener))
}
